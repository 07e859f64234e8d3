// SPDX-License-Identifier: MIT
// Changed since rows: a warp is 8 x 4 pixels in place of 32 x 1. Near pixels take about as many steps, and in a
// rectangle they are nearer, so lanes wait less. Its four rows of 32 bytes are whole sectors: stores waste nothing.
// Bound by: arithmetic; a border crosses fewer warps.
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

constexpr int kWarpX = 8, kWarpY = 4;  // pixels of a warp
static_assert(kWarpX * kWarpY == days::kWarpSize && kBlockX % kWarpX == 0 && kBlockY % kWarpY == 0);

__global__ void __launch_bounds__(kBlockX* kBlockY)
    squares_kernel(float* counts,  // (height, width)
                   int width, int height, float left, float top, float step, int most) {
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  constexpr int kAcross = kBlockX / kWarpX;  // warps side by side in the block's 32 x 8 pixels
  const int x = blockIdx.x * kBlockX + warp % kAcross * kWarpX + lane % kWarpX;
  const int y = blockIdx.y * kBlockY + warp / kAcross * kWarpY + lane / kWarpX;
  if (x >= width || y >= height) return;
  const float c_re = fmaf(static_cast<float>(x), step, left), c_im = fmaf(static_cast<float>(y), step, top);
  float re = 0, im = 0;
  int count = 0;
  while (count < most) {
    const float squared = im * im;
    if (fmaf(re, re, squared) > 4) break;
    im = fmaf(2 * re, im, c_im);
    re = fmaf(re, re, -squared) + c_re;
    ++count;
  }
  counts[int64_t{y} * width + x] = static_cast<float>(count);
}

}  // namespace

void mandelbrot_squares(const Mandelbrot<float>& p, cudaStream_t stream) {
  require_picture(p, "squares");
  days::require(p.most > 0, "squares: most must be positive, not", p.most);
  squares_kernel<<<grid_of(p), kBlockX * kBlockY, 0, stream>>>(p.counts, p.width, p.height, p.left, p.top,
                                                               p.step, p.most);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day33
