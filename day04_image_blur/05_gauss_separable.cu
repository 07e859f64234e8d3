// SPDX-License-Identifier: MIT
//
// Two rungs that differ in the place of their weights alone.
//
// gauss_separable: two kernels, along the rows into scratch memory, then along the columns. Since direct:
// 2 (2 radius + 1) products a pixel in place of (2 radius + 1)^2, for the price of writing and reading a picture
// in between. Bound by: instructions. Half of its requests fetch weights, the same for all lanes, from global memory.
//
// gauss_constant: the same two passes with the weights in constant memory, which has a cache of its own and
// hands one value to a whole warp at a time. Since separable: half of the requests. Bound by: instructions as
// before, so it gains little. The hazard: there is one such variable in the program. Two launches on
// two streams with different weights would overwrite each other's; the next rung has no such variable.
// Teaches: __constant__.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kPassX = 32, kPassY = 8;

struct GlobalWeights {
  const float* weights;  // (2 radius + 1)
  __device__ float operator()(int i) const { return weights[i]; }
};

__constant__ float constant_weights[2 * kMaxRadius + 1];

struct ConstantWeights {
  __device__ float operator()(int i) const { return constant_weights[i]; }
};

// The passes take weights from any place: weights(i) is the i-th.
template <class T, class Weights>
__global__ void rows_pass(const T* image,       // (planes, height, width)
                          Between<T>* between,  // (planes, height, width)
                          Weights weights, int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kPassX + threadIdx.x;
  const int y = blockIdx.y * kPassY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t row = (int64_t{blockIdx.z} * height + y) * width;
  float sum = 0;
  for (int dx = -radius; dx <= radius; ++dx) {
    const int from = stand_in(x + dx, width, border);
    if (from >= 0) sum += weights(dx + radius) * static_cast<float>(image[row + from]);
  }
  between[row + x] = Fixed<T>::between(sum);
}

template <class T, class Weights>
__global__ void columns_pass(const Between<T>* between,  // (planes, height, width)
                             T* blurred,                 // (planes, height, width)
                             Weights weights, int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kPassX + threadIdx.x;
  const int y = blockIdx.y * kPassY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    const int from = stand_in(y + dy, height, border);
    if (from >= 0)
      sum += weights(dy + radius) * static_cast<float>(between[plane + int64_t{from} * width + x]);
  }
  blurred[plane + int64_t{y} * width + x] = Fixed<T>::result(sum);
}

template <class T>
Between<T>* between_of(const Blur<T>& p, const char* variant) {
  const size_t needed = gauss_separable_workspace(p);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<Between<T>*>(p.workspace.data);
}

template <class T, class Weights>
void launch(const Blur<T>& p, Between<T>* between, const Weights& weights, cudaStream_t stream) {
  const dim3 block(kPassX, kPassY);
  const dim3 grid(days::ceil_div(p.width, kPassX), days::ceil_div(p.height, kPassY), p.planes);
  rows_pass<T><<<grid, block, 0, stream>>>(p.image, between, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
  columns_pass<T>
      <<<grid, block, 0, stream>>>(between, p.blurred, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void gauss_separable(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_separable");
  launch(p, between_of(p, "gauss_separable"), GlobalWeights{p.weights}, stream);
}

template <class T>
void gauss_constant(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_constant");
  Between<T>* between = between_of(p, "gauss_constant");
  // In the order of the stream: earlier kernels of this stream have done with the old weights by then.
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_weights, p.weights,
                                     sizeof(float) * (2 * static_cast<size_t>(p.radius) + 1), 0,
                                     cudaMemcpyDeviceToDevice, stream));
  launch(p, between, ConstantWeights{}, stream);
}

INSTANTIATE_LAUNCHER(gauss_separable, Blur, uint8_t, float);
INSTANTIATE_LAUNCHER(gauss_constant, Blur, uint8_t, float);

}  // namespace day04
