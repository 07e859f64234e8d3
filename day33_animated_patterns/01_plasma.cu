// SPDX-License-Identifier: MIT
// One thread, one pixel: what a pixel shows is a formula of its place and of the time, and no pixel needs another one.
// What all pixels of a frame share, the sine and cosine of the angle, the host computes once.
// Bound by: arithmetic. Three sines and a root are some hundred instructions for 4 bytes.
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

struct Moment {
  float angle, sine, cosine;
};

__global__ void __launch_bounds__(kBlockX* kBlockY)
    plasma_kernel(float* values,  // (height, width)
                  int width, int height, float side, Moment at) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const float right = (x + 0.5f - 0.5f * width) / side;  // from the middle, in longer sides
  const float down = (y + 0.5f - 0.5f * height) / side;
  const float from_x = right + 0.3f * at.sine, from_y = down + 0.3f * at.cosine;
  const float rings = sqrtf(from_x * from_x + from_y * from_y);
  values[int64_t{y} * width + x] = sinf(12 * right + at.angle) +
                                   sinf(12 * (right * at.sine + down * at.cosine)) +
                                   sinf(24 * rings - at.angle);
}

}  // namespace

void plasma(const Plasma<float>& p, cudaStream_t stream) {
  require_picture(p, "plasma");
  const float side = static_cast<float>(p.width > p.height ? p.width : p.height);
  plasma_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(
      p.values, p.width, p.height, side, {p.angle, std::sin(p.angle), std::cos(p.angle)});
  CUDA_CHECK_LAUNCH();
}

}  // namespace day33
