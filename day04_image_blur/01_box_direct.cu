// SPDX-License-Identifier: MIT
//
// One thread a pixel, which reads all (2 radius + 1)^2 pixels around it. Neighbours read nearly the same
// ones: each byte of the picture is asked for (2 radius + 1)^2 times. Bound by: instructions. Each
// pixel of each window is asked whether it lies in the picture, and where.

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void box_direct_kernel(const uint8_t* image,  // (planes, height, width)
                                  uint8_t* blurred,      // (planes, height, width)
                                  int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  unsigned sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      sum += pixel(image + plane, height, width, y + dy, x + dx, border);
    }
  }
  const unsigned side = 2 * radius + 1;
  blurred[plane + int64_t{y} * width + x] = mean(sum, side * side);
}

}  // namespace

void box_direct(const Blur<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "box_direct");
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY), p.planes);
  box_direct_kernel<<<grid, block, 0, stream>>>(p.image, p.blurred, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day04
