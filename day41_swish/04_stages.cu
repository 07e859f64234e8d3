// SPDX-License-Identifier: MIT
// Two stages: each block writes its sum to a place of its own, and a second kernel of one block adds those up.
// Changed since block: no atomic addition at all, and an order that n alone decides: the same bits on every run. A block takes
// eight vectors a thread, so that the barriers are paid once for 8,192 elements (16,384) and the second kernel has few numbers.
// Bound by: memory, and the start of the second kernel.
#include "day41_swish/swish.h"
#include "day41_swish/tile.cuh"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    stages_kernel(const SwishBackward<T> p, float* partials) {  // (blocks)
  const float sum = tile_gradient(p);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads) total_kernel(const float* partials,  // (count)
                                                         unsigned count,
                                                         float* dbeta) {  // (1)
  const float sum = sum_of_partials(partials, count);
  if (threadIdx.x == 0) *dbeta = sum;
}

}  // namespace

template <class T>
void swish_stages(const SwishBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "stages", kTile<T>);
  days::require_needs(p, "stages", kAlignedBackward);
  days::require(p.workspace.bytes >= stages_workspace(p),
                "stages: needs a workspace of bytes:", stages_workspace(p));
  float* partials = static_cast<float*>(p.workspace.data);
  stages_kernel<<<blocks, kThreads, 0, stream>>>(p, partials);
  CUDA_CHECK_LAUNCH();
  total_kernel<<<1, kThreads, 0, stream>>>(partials, blocks, p.dbeta);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swish_stages, SwishBackward, float, days::half, days::bf16);

}  // namespace day41
