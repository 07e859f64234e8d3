// SPDX-License-Identifier: MIT
//
// Both passes in one kernel: a block fetches a tile with its halo into shared memory, blurs its rows there,
// and then its columns. Since constant: nothing in between goes to global memory. The weights are an argument
// of the kernel, by value: arguments live in constant memory as well, and belong to this launch alone.
// Bound by: instructions: an address, a load and a conversion for each multiply-add.

#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"
#include "day04_image_blur/weights.h"

namespace day04 {
namespace {

constexpr int kThreadsY = 8;

struct Weights {
  float of[kMostTaps];
};

template <class T>
__global__ void gauss_shared_kernel(const T* image,  // (planes, height, width)
                                    T* blurred,      // (planes, height, width)
                                    const __grid_constant__ Weights weights, int height, int width,
                                    int radius, Border border) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int side = kTile + 2 * radius;
  Between<T>* between = reinterpret_cast<Between<T>*>(memory);  // (side, kTile)
  T* tile =
      reinterpret_cast<T*>(memory + sizeof(Between<T>) * static_cast<size_t>(side) * kTile);  // (side, side)
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  for (int row = threadIdx.y; row < side; row += kThreadsY) {
    for (int col = threadIdx.x; col < side; col += kTile) {
      tile[row * side + col] =
          pixel(image + plane, height, width, y0 - radius + row, x0 - radius + col, border);
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < side; row += kThreadsY) {
    float sum = 0;
    for (int i = 0; i <= 2 * radius; ++i)
      sum += weights.of[i] * static_cast<float>(tile[row * side + threadIdx.x + i]);
    between[row * kTile + threadIdx.x] = Fixed<T>::between(sum);
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kTile; row += kThreadsY) {
    float sum = 0;
    for (int i = 0; i <= 2 * radius; ++i)
      sum += weights.of[i] * static_cast<float>(between[(row + i) * kTile + threadIdx.x]);
    const int x = x0 + threadIdx.x, y = y0 + row;
    if (x < width && y < height) blurred[plane + int64_t{y} * width + x] = Fixed<T>::result(sum);
  }
}

}  // namespace

template <class T>
void gauss_shared(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_shared");
  days::require_needs(p, "gauss_shared", kGaussTileFits);
  const size_t bytes = gauss_tile_bytes<T>(p.radius);
  Weights weights{};
  const std::vector<float> all = gaussian_weights(p.radius);
  std::copy(all.begin(), all.end(), weights.of);
  const dim3 block(kTile, kThreadsY);
  const dim3 grid(days::ceil_div(p.width, kTile), days::ceil_div(p.height, kTile), p.planes);
  gauss_shared_kernel<T>
      <<<grid, block, bytes, stream>>>(p.image, p.blurred, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(gauss_shared, Blur, uint8_t, float);

}  // namespace day04
