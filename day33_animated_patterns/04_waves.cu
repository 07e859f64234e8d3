// SPDX-License-Identifier: MIT
// A frame needs the two before it, and two arrays are enough. The newer one is read by neighbours, so nobody may write it.
// The older one's cell is read by one thread alone, the one that owns its pixel, which may put the new value there.
// Bound by: bytes. Four of five reads of `now` find the value in a cache.
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

__global__ void __launch_bounds__(kBlockX* kBlockY)
    waves_kernel(const float* now,  // (height, width)
                 float* other,      // (height, width): the frame before, then the one after
                 int width, int height, float speed2) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t i = int64_t{y} * width + x;
  const float left = x > 0 ? now[i - 1] : 0, right = x + 1 < width ? now[i + 1] : 0;
  const float above = y > 0 ? now[i - width] : 0, below = y + 1 < height ? now[i + width] : 0;
  const float here = now[i];
  other[i] = 2 * here - other[i] + speed2 * ((left + right) + (above + below) - 4 * here);
}

}  // namespace

void waves(const Waves<float>& p, cudaStream_t stream) {
  require_picture(p, "waves");
  days::require(p.speed2 > 0 && p.speed2 <= 0.5f, "waves: speed2 must be above 0 and at most 0.5, not",
                p.speed2);
  waves_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(p.now, p.other, p.width, p.height,
                                                                  p.speed2);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day33
