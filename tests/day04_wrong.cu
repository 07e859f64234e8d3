// SPDX-License-Identifier: MIT
//
// Kernels of day 04 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

enum class Bug {
  // of the box
  kZeros,            // a black picture
  kTruncates,        // the mean rounded down
  kNarrow,           // `<` for `<=`: the last column and row of the window are left out
  kInsideAlone,      // pixels outside are left out of the sum and of the count
  kAlwaysClamps,     // whatever border is asked for
  kMirrorSkipsEdge,  // mirrors about the last pixel, not behind it: c b | a b c
  kTransposed,       // takes height for width where it counts rows
  kOnePlane,         // blurs the first plane and copies it to the others
  kNoHalo,           // clamps at the block's edge, not at the picture's
  kByteSum,          // the sum kept in 16 bits
  // of the Gaussian
  kRowsAlone,       // the second pass is missing
  kUnrounded,       // keeps more digits between the passes than the day's rule has
  kByteBetween,     // keeps fewer: whole gray levels
  kShiftedWeights,  // starts at the second weight
  kBox,             // all weights alike
};

__device__ int wrong_stand_in(int i, int n, Border border, Bug bug) {
  if (bug == Bug::kAlwaysClamps) border = Border::kClamp;
  if (bug == Bug::kMirrorSkipsEdge && border == Border::kMirror && n > 1 && (i < 0 || i >= n)) {
    const int period = 2 * n - 2, at = (i % period + period) % period;
    return at < n ? at : period - at;
  }
  return stand_in(i, n, border);
}

template <Bug kBug>
__device__ uint8_t wrong_box(const uint8_t* plane, const Blur<uint8_t>& p, int y, int x) {
  unsigned sum = 0, count = 0;
  const int last = kBug == Bug::kNarrow ? p.radius - 1 : p.radius;
  for (int dy = -p.radius; dy <= last; ++dy) {
    for (int dx = -p.radius; dx <= last; ++dx) {
      int from_y = y + dy, from_x = x + dx;
      if (kBug == Bug::kNoHalo) {
        const int x0 = x / 32 * 32, y0 = y / 32 * 32;
        from_x = from_x < x0 ? x0 : from_x > x0 + 31 ? x0 + 31 : from_x;
        from_y = from_y < y0 ? y0 : from_y > y0 + 31 ? y0 + 31 : from_y;
      }
      const bool inside = from_y >= 0 && from_y < p.height && from_x >= 0 && from_x < p.width;
      if (kBug == Bug::kInsideAlone && !inside) continue;
      const int rows = kBug == Bug::kTransposed && p.width < p.height ? p.width : p.height;
      const int row = wrong_stand_in(from_y, rows, p.border, kBug);
      const int col = wrong_stand_in(from_x, p.width, p.border, kBug);
      sum += row < 0 || col < 0 ? 0 : plane[int64_t{row} * p.width + col];
      ++count;
    }
  }
  if (kBug == Bug::kByteSum) sum &= 0xffff;
  if (kBug != Bug::kInsideAlone) count = (2 * p.radius + 1) * (2 * p.radius + 1);
  return kBug == Bug::kTruncates ? static_cast<uint8_t>(sum / count) : mean(sum, count);
}

template <Bug kBug>
__device__ uint8_t wrong_gauss(const uint8_t* plane, const Blur<uint8_t>& p, int y, int x) {
  const auto weight = [&](int i) -> float {
    if (kBug == Bug::kBox) return static_cast<float>(kUnit) / (2 * p.radius + 1);
    if (kBug == Bug::kShiftedWeights) return p.weights[i < 2 * p.radius ? i + 1 : 0];
    return p.weights[i];
  };
  double sum = 0;
  for (int dy = -p.radius; dy <= p.radius; ++dy) {
    if (kBug == Bug::kRowsAlone && dy != 0) continue;
    float row = 0;
    for (int dx = -p.radius; dx <= p.radius; ++dx)
      row += weight(dx + p.radius) * pixel(plane, p.height, p.width, y + dy, x + dx, p.border);
    double between = Fixed<uint8_t>::between(row);
    if (kBug == Bug::kUnrounded) between = row / 256.0;
    if (kBug == Bug::kByteBetween) between = 16.0 * ((static_cast<unsigned>(row) + kUnit / 2) / kUnit);
    sum += (kBug == Bug::kRowsAlone ? kUnit : weight(dy + p.radius)) * between;
  }
  return Fixed<uint8_t>::result(static_cast<float>(sum));
}

template <Bug kBug>
__global__ void wrong_kernel(Blur<uint8_t> p) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p.width || y >= p.height) return;
  const int64_t out = blockIdx.z * p.plane() + int64_t{y} * p.width + x;
  const uint8_t* plane = p.image + (kBug == Bug::kOnePlane ? 0 : blockIdx.z * p.plane());
  uint8_t value = 0;
  if constexpr (kBug >= Bug::kRowsAlone) {
    value = wrong_gauss<kBug>(plane, p, y, x);
  } else if constexpr (kBug != Bug::kZeros) {
    value = wrong_box<kBug>(plane, p, y, x);
  }
  p.blurred[out] = value;
}

template <Bug kBug>
void launch(const Blur<uint8_t>& p, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(days::ceil_div(p.width, 32), days::ceil_div(p.height, 8), p.planes);
  wrong_kernel<kBug><<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void zeros(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void truncates(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kTruncates>(p, s);
}
void narrow(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kNarrow>(p, s);
}
void inside_alone(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kInsideAlone>(p, s);
}
void always_clamps(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kAlwaysClamps>(p, s);
}
void mirror_skips_edge(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kMirrorSkipsEdge>(p, s);
}
void transposed(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kTransposed>(p, s);
}
void one_plane(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kOnePlane>(p, s);
}
void no_halo(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kNoHalo>(p, s);
}
void byte_sum(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kByteSum>(p, s);
}
void rows_alone(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kRowsAlone>(p, s);
}
void unrounded(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kUnrounded>(p, s);
}
void byte_between(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kByteBetween>(p, s);
}
void shifted_weights(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kShiftedWeights>(p, s);
}
void box_of_this_size(const Blur<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kBox>(p, s);
}

}  // namespace day04
