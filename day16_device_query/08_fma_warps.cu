// SPDX-License-Identifier: MIT
//
// One chain a thread again, but eight warps for each scheduler. Changed since ilp8: the eight chains in
// flight belong to eight warps instead of one. Little's law does not ask where the parallelism comes from.
// Bound by: the rate of issue, as ilp8.

#include "day16_device_query/fma_chains.cuh"

namespace day16 {
namespace {

constexpr int kEightWarpsEach = 8 * kOneWarpEach;

}  // namespace

void fma_warps(const Fma<float>& p, cudaStream_t stream) {
  require_fma(p, "warps");
  fma_kernel<1><<<days::multiprocessors(), kEightWarpsEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
