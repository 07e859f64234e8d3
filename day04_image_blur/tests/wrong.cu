// SPDX-License-Identifier: MIT
//
// Kernels of day 04 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

// A pixel of the picture: which plane, and where in it.
struct Place {
  int plane, y, x;
};

// A thread a pixel: kBlur says what it becomes.
template <uint8_t (*kBlur)(const Blur<uint8_t>&, Place)>
__global__ void each_pixel(Blur<uint8_t> p) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = static_cast<int>(blockIdx.z);
  if (x < p.width && y < p.height)
    p.blurred[plane * p.plane() + int64_t{y} * p.width + x] = kBlur(p, {plane, y, x});
}
template <uint8_t (*kBlur)(const Blur<uint8_t>&, Place)>
void launch(const Blur<uint8_t>& p, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(days::ceil_div(p.width, 32), days::ceil_div(p.height, 8), p.planes);
  each_pixel<kBlur><<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

__device__ int pixel_of(const Blur<uint8_t>& p, int plane, int y, int x, Border border) {
  return static_cast<int>(pixel(p.image + plane * p.plane(), p.height, p.width, y, x, border));
}
__device__ unsigned taps(const Blur<uint8_t>& p) {
  return (2 * p.radius + 1) * (2 * p.radius + 1);
}
// The sum of value(dy, dx) over a window, both from -radius to `last`.
template <class Value>
__device__ unsigned window(const Blur<uint8_t>& p, int last, const Value& value) {
  unsigned sum = 0;
  for (int dy = -p.radius; dy <= last; ++dy) {
    for (int dx = -p.radius; dx <= last; ++dx) sum += value(dy, dx);
  }
  return sum;
}
__device__ unsigned box_sum(const Blur<uint8_t>& p, Place at, int last) {
  return window(p, last,
                [&](int dy, int dx) { return pixel_of(p, at.plane, at.y + dy, at.x + dx, p.border); });
}

// The mean rounded down.
__device__ uint8_t truncates(const Blur<uint8_t>& p, Place at) {
  return static_cast<uint8_t>(box_sum(p, at, p.radius) / taps(p));
}
MUST_REJECT(box_blur, launch<truncates>, "1 x 1 x 7 x 3: blurred[0,0,2] is 98, expected 99");

// Whatever border is asked for.
__device__ uint8_t always_clamps(const Blur<uint8_t>& p, Place at) {
  const unsigned sum = window(p, p.radius, [&](int dy, int dx) {
    return pixel_of(p, at.plane, at.y + dy, at.x + dx, Border::kClamp);
  });
  return mean(sum, taps(p));
}
MUST_REJECT(box_blur, launch<always_clamps>, "zero border: blurred[0,0,0] is 48, expected 5");

// Takes width for height where it counts rows.
__device__ uint8_t transposed(const Blur<uint8_t>& p, Place at) {
  const int rows = p.width < p.height ? p.width : p.height;
  const unsigned sum = window(p, p.radius, [&](int dy, int dx) {
    const int row = stand_in(at.y + dy, rows, p.border);
    return row < 0 ? 0 : pixel_of(p, at.plane, row, at.x + dx, p.border);
  });
  return mean(sum, taps(p));
}
MUST_REJECT(box_blur, launch<transposed>, "1 x 7 x 1 x 2: blurred[0,0,0] is 48, expected 113");

// The sum kept in 16 bits.
__device__ uint8_t byte_sum(const Blur<uint8_t>& p, Place at) {
  return mean(box_sum(p, at, p.radius) & 0xffff, taps(p));
}
MUST_REJECT(box_blur, launch<byte_sum>, "1 x 2 x 2 x 9, all white: blurred[0,0,0] is 73, expected 255");

// ---- Of the Gaussian ----

// A row's sum, weighted by weight(i) for the i-th tap.
template <class Weight>
__device__ float row_sum(const Blur<uint8_t>& p, Place at, int dy, const Weight& weight) {
  float sum = 0;
  for (int dx = -p.radius; dx <= p.radius; ++dx)
    sum += weight(dx + p.radius) * static_cast<float>(pixel_of(p, at.plane, at.y + dy, at.x + dx, p.border));
  return sum;
}
// Both passes, with between(sum) for what the first one leaves.
template <class Weight, class Between>
__device__ uint8_t two_passes(const Blur<uint8_t>& p, Place at, const Weight& weight,
                              const Between& between) {
  double sum = 0;
  for (int dy = -p.radius; dy <= p.radius; ++dy)
    sum += weight(dy + p.radius) * between(row_sum(p, at, dy, weight));
  return Fixed<uint8_t>::result(static_cast<float>(sum));
}

// Keeps more digits between the passes than the day's rule has.
__device__ uint8_t unrounded(const Blur<uint8_t>& p, Place at) {
  return two_passes(
      p, at, [&](int i) { return p.weights[i]; }, [](float sum) { return sum / 256.0; });
}
MUST_REJECT(gaussian_blur, launch<unrounded>, "mirrored border: blurred[0,0,0] is 127, expected 128");

// Keeps fewer: whole gray levels.
__device__ uint8_t byte_between(const Blur<uint8_t>& p, Place at) {
  return two_passes(
      p, at, [&](int i) { return p.weights[i]; },
      [](float sum) { return 16.0 * ((static_cast<unsigned>(sum) + kUnit / 2) / kUnit); });
}
MUST_REJECT(gaussian_blur, launch<byte_between>, "mirrored border: blurred[0,0,0] is 127, expected 128");

}  // namespace
}  // namespace day04
