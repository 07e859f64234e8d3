// SPDX-License-Identifier: MIT
//
// Eight chains a thread. Changed since ilp4: more in flight than needed, so small delays are covered too.
// Bound by: the rate of issue. One warp for each scheduler, 1/16 of the threads that fit, and the ceiling is
// reached.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp8(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp8");
  fma_kernel<8><<<days::multiprocessors(), kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
