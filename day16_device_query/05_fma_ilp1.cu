// SPDX-License-Identifier: MIT
//
// One chain a thread, one warp for each scheduler: a multiply-add starts when the last one has finished.
// Bound by: latency. A scheduler could issue one warp's multiply-add a cycle, and has one to issue every
// four.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp1(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp1");
  fma_kernel<1><<<days::multiprocessors(), kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
