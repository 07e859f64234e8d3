// SPDX-License-Identifier: MIT
// Changed since one: each warp of the block walks a chain, by its first lane. While one waits the others load, so as many
// loads are under way as there are warps. This is what occupancy buys.
// Bound by: the latency, for a 32nd of the waiting.
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kTouchers) warps_kernel(const uint32_t* next,  // (kLineWords * lines)
                                                          uint32_t* end,         // (chains)
                                                          int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  if (threadIdx.x % days::kWarpSize > 0) return;
  for (int chain = threadIdx.x / days::kWarpSize; chain < chains; chain += kTouchers / days::kWarpSize) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % lines));
    for (int step = 0; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}

}  // namespace

void chase_warps(const Chase<uint32_t>& p, cudaStream_t stream) {
  require_chase(p, "warps");
  warps_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
