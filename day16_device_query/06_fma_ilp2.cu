// SPDX-License-Identifier: MIT
//
// Two chains a thread: instruction-level parallelism (ILP).
// Changed since ilp1: while one chain waits, the other can issue. Twice the rate with no more threads.
// Bound by: latency still; two in flight where about four are needed.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp2(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp2");
  fma_kernel<2><<<days::multiprocessors(), kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
