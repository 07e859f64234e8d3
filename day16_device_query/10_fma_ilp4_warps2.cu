// SPDX-License-Identifier: MIT
//
// Four chains a thread and two warps for each scheduler.
// Changed since ilp1_warps8: eight chains in flight still, but each warp has several to issue in a row.
// Bound by: the rate of issue. One warp multiplies while the other counts its loop.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp4_warps2(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp4_warps2");
  fma_kernel<4><<<days::multiprocessors(), 2 * kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
