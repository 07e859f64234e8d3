// SPDX-License-Identifier: MIT
//
// One chain a thread again, but eight warps for each scheduler.
// Changed since ilp8: the eight chains in flight belong to eight warps instead of one.
// Bound by: on Hopper not latency but, it seems, the register file. A multiply-add reads three registers; a
// warp that issues several in a row finds a and b kept from the last one, warps that take turns do not.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp1_warps8(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp1_warps8");
  fma_kernel<1><<<days::multiprocessors(), 8 * kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
