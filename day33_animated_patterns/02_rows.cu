// SPDX-License-Identifier: MIT
// One thread, one pixel again, but a pixel takes as long as it takes: 1 step of z^2 + c, or `most`. A warp is 32 pixels
// of a row, and it is through when the slowest of them is.
// Bound by: arithmetic, and the lanes that wait for others at a set's border.
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

__global__ void __launch_bounds__(kBlockX* kBlockY)
    rows_kernel(float* counts,  // (height, width)
                int width, int height, float left, float top, float step, int most) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  // fmaf() everywhere: each rounding is written down, so that GPU and CPU count the same.
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

void mandelbrot_rows(const Mandelbrot<float>& p, cudaStream_t stream) {
  require_picture(p, "rows");
  days::require(p.most > 0, "rows: most must be positive, not", p.most);
  rows_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(p.counts, p.width, p.height, p.left, p.top,
                                                                 p.step, p.most);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day33
