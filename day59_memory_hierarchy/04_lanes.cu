// SPDX-License-Identifier: MIT
// Changed since one: the lanes of one warp walk a chain each. One instruction asks for 32 places, so a warp has 32 loads
// under way with one request.
// Bound by: the latency, and 32 sectors of a request, which leave the pipeline one after the other.
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kTouchers) lanes_kernel(const uint32_t* next,  // (kLineWords * lines)
                                                          uint32_t* end,         // (chains)
                                                          int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  if (threadIdx.x >= days::kWarpSize) return;
  for (int chain = threadIdx.x; chain < chains; chain += days::kWarpSize) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % lines));
    for (int step = 0; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}

}  // namespace

void chase_lanes(const Chase<uint32_t>& p, cudaStream_t stream) {
  require_chase(p, "lanes");
  lanes_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
