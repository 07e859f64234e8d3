// SPDX-License-Identifier: MIT
// One thread, one pixel, one byte: a number becomes an entry of the palette, 0 to 255. NaN becomes 0.
// Bound by: bytes, 4 in and 1 out.
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) paint_kernel(const float* values,  // (n)
                                                         uint8_t* pixels,      // (n)
                                                         int64_t n, float scale, float shift) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float entry = fmaf(values[i], scale, shift);
  pixels[i] = entry >= 255 ? 255 : entry > 0 ? static_cast<uint8_t>(entry) : 0;
}

}  // namespace

void paint(const Paint<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "paint: n must be positive, not", p.n);
  days::require(p.high > p.low, "paint: high must be above low, not", p.high);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, "paint: n is too large for one grid:", p.n);
  const float scale = 255 / (p.high - p.low);
  paint_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.values, p.pixels, p.n, scale,
                                                                       -p.low * scale);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day33
