// SPDX-License-Identifier: MIT
//
// The same two passes with the weights in constant memory, which has a cache of its own and hands one value
// to a whole warp at a time. Since separable: the weights' loads no longer compete with the pixels'.
// Bound by: requests for pixels. The hazard: there is one such variable in the program. Two launches on two
// streams with different weights would overwrite each other's; the next rung has no such variable.

#include "day04_image_blur/passes.cuh"

namespace day04 {
namespace {

__constant__ float constant_weights[2 * kMaxRadius + 1];

struct ConstantWeights {
  __device__ float operator()(int i) const { return constant_weights[i]; }
};

}  // namespace

template <class T>
void gauss_constant(const Blur<T>& p, cudaStream_t stream) {
  require_extents(p, "gauss_constant");
  Between<T>* between = between_of(p, "gauss_constant");
  // In the order of the stream: earlier kernels of this stream have done with the old weights by then.
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_weights, p.weights,
                                     sizeof(float) * (2 * static_cast<size_t>(p.radius) + 1), 0,
                                     cudaMemcpyDeviceToDevice, stream));
  const dim3 block(kPassX, kPassY);
  const dim3 grid(days::ceil_div(p.width, kPassX), days::ceil_div(p.height, kPassY), p.planes);
  const ConstantWeights weights{};
  rows_pass<T><<<grid, block, 0, stream>>>(p.image, between, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
  columns_pass<T>
      <<<grid, block, 0, stream>>>(between, p.blurred, weights, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}
template void gauss_constant(const Blur<uint8_t>&, cudaStream_t);
template void gauss_constant(const Blur<float>&, cudaStream_t);

}  // namespace day04
