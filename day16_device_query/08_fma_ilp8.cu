// SPDX-License-Identifier: MIT
//
// Eight chains a thread.
// Changed since ilp4: twice as many in flight as the latency asks for, which gains nothing more.
// Bound by: the rate of issue, as before: the only warp cannot multiply while it counts its loop.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp8(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp8");
  fma_kernel<8><<<days::multiprocessors(), kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
