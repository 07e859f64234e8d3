// SPDX-License-Identifier: MIT
//
// Four chains a thread.
// Changed since ilp2: four in flight, as many as a multiply-add takes cycles.
// Bound by: the rate of issue, nearly; what the loop itself issues comes on top.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {

void fma_ilp4(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "ilp4");
  fma_kernel<4><<<days::multiprocessors(), kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
