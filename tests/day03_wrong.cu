// SPDX-License-Identifier: MIT
//
// Kernels of day 03 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

enum class Bug {
  kZeros,        // a black picture
  kTruncates,    // >> 8 without the 128 that rounds
  kBgr,          // takes blue for red, as for pictures of OpenCV
  kAverage,      // a third of each colour
  kLumaInFloat,  // 0.299, 0.587, 0.114 in float: right to one step, and the day's formula is exact
  kOverflows,    // the products in eight bits
  kOverlapping,  // pixel i at byte i, not at byte 3 i
  kPlanar,       // red, green and blue in three planes
  kDropsTail,    // 16 pixels at a time, and forgets what is left over
  kLastPixel,    // `<` one too few

};

template <Bug kBug>
__global__ void wrong_kernel(const uint8_t* rgb, uint8_t* gray, int64_t n) {
  int64_t last = n;
  if (kBug == Bug::kDropsTail) last = n / 16 * 16;
  if (kBug == Bug::kLastPixel) last = n - 1;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= last) return;

  const int64_t at = kBug == Bug::kOverlapping || kBug == Bug::kPlanar ? i : 3 * i;
  const int64_t step = kBug == Bug::kPlanar ? n : 1;
  uint8_t red = rgb[at], green = rgb[at + step], blue = rgb[at + 2 * step];
  if (kBug == Bug::kBgr) {
    const uint8_t kept = red;
    red = blue;
    blue = kept;
  }
  uint8_t value = gray_of(red, green, blue);
  if (kBug == Bug::kZeros) value = 0;
  if (kBug == Bug::kTruncates)
    value = static_cast<uint8_t>((kRed * red + kGreen * green + kBlue * blue) >> 8);
  if (kBug == Bug::kAverage) value = static_cast<uint8_t>((red + green + blue) / 3);
  if (kBug == Bug::kLumaInFloat)
    value = static_cast<uint8_t>(0.299f * red + 0.587f * green + 0.114f * blue + 0.5f);
  if (kBug == Bug::kOverflows) {
    const uint8_t sum = static_cast<uint8_t>(kRed * red + kGreen * green + kBlue * blue + 128);
    value = static_cast<uint8_t>(sum >> 8);
  }
  gray[i] = value;
}

// Thread t stages pixel t and reads its neighbour's, with no barrier between: right only where the neighbour
// happened to come first. On the CPU backend the threads start in several orders, so some order shows it.
__global__ void no_barrier_kernel(const uint8_t* rgb, uint8_t* gray, int64_t n) {
  __shared__ uint8_t tile[3 * 256];
  const int64_t start = int64_t{blockIdx.x} * 256;
  for (int c = 0; c < 3; ++c) {
    if (3 * start + c * 256 + threadIdx.x < 3 * n)
      tile[c * 256 + threadIdx.x] = rgb[3 * start + c * 256 + threadIdx.x];
  }
  const int i = 255 - threadIdx.x;
  if (start + i < n) gray[start + i] = gray_of(tile[3 * i], tile[3 * i + 1], tile[3 * i + 2]);
}

template <Bug kBug>
void launch(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  const int64_t n = p.pixels();
  const unsigned blocks = static_cast<unsigned>(days::ceil_div(n, 256));
  wrong_kernel<kBug><<<blocks, 256, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void zeros(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void truncates(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kTruncates>(p, s);
}
void bgr(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kBgr>(p, s);
}
void average(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kAverage>(p, s);
}
void luma_in_float(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kLumaInFloat>(p, s);
}
void overflows(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kOverflows>(p, s);
}
void overlapping(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kOverlapping>(p, s);
}
void planar(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kPlanar>(p, s);
}
void drops_tail(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kDropsTail>(p, s);
}
void last_pixel(const Grayscale<uint8_t>& p, cudaStream_t s) {
  launch<Bug::kLastPixel>(p, s);
}
void no_barrier(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  const int64_t n = p.pixels();
  no_barrier_kernel<<<static_cast<unsigned>(days::ceil_div(n, 256)), 256, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day03
