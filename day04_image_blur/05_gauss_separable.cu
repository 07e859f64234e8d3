// SPDX-License-Identifier: MIT
//
// Two kernels: along the rows into scratch memory, then along the columns. Since direct: 2 (2 radius + 1)
// products a pixel in place of (2 radius + 1)^2, for the price of writing and reading a picture in between.
// Bound by: requests. Half of them fetch weights, the same for all lanes, from global memory.

#include "day04_image_blur/passes.cuh"

namespace day04 {
namespace {

struct GlobalWeights {
  const float* weights;  // (2 radius + 1)
  __device__ float operator()(int i) const { return weights[i]; }
};

}  // namespace

template <class T>
void gauss_separable(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_separable");
  Between<T>* between = between_of(p, "gauss_separable");
  const dim3 block(kPassX, kPassY);
  const dim3 grid(days::ceil_div(p.width, kPassX), days::ceil_div(p.height, kPassY), p.planes);
  const GlobalWeights weights{p.weights};
  rows_pass<T><<<grid, block, 0, stream>>>(p.image, between, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
  columns_pass<T>
      <<<grid, block, 0, stream>>>(between, p.blurred, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}
template void gauss_separable(const Blur<uint8_t>&, cudaStream_t);
template void gauss_separable(const Blur<float>&, cudaStream_t);

}  // namespace day04
