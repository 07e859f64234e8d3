// SPDX-License-Identifier: MIT
//
// The Gaussian as its definition says it: one thread a pixel, and for each of the 2 radius + 1 rows around it
// a weighted sum along the row. Neighbours above and below compute the same row sums once more.
// Bound by: instructions, as box_direct.

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void gauss_direct_kernel(const T* image,        // (planes, height, width)
                                    T* blurred,            // (planes, height, width)
                                    const float* weights,  // (2 radius + 1)
                                    int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    float row = 0;
    for (int dx = -radius; dx <= radius; ++dx) {
      const T value = pixel(image + plane, height, width, y + dy, x + dx, border);
      row += weights[dx + radius] * static_cast<float>(value);
    }
    sum += weights[dy + radius] * static_cast<float>(Fixed<T>::between(row));
  }
  blurred[plane + int64_t{y} * width + x] = Fixed<T>::result(sum);
}

}  // namespace

template <class T>
void gauss_direct(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_direct");
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY), p.planes);
  gauss_direct_kernel<T>
      <<<grid, block, 0, stream>>>(p.image, p.blurred, p.weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(gauss_direct, Blur, uint8_t, float);

}  // namespace day04
