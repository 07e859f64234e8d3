// SPDX-License-Identifier: MIT
// A load whose address is the last load's value: nothing can be fetched ahead, so each step takes a whole latency. One
// thread walks all chains, one after the other.
// Bound by: the latency of the level that the lines lie in. 4 bytes are under way, on the whole GPU.
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kTouchers) one_kernel(const uint32_t* next,  // (kLineWords * lines)
                                                        uint32_t* end,         // (chains)
                                                        int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  if (threadIdx.x > 0) return;
  for (int chain = 0; chain < chains; ++chain) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % lines));
    for (int step = 0; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}

}  // namespace

void chase_one(const Chase<uint32_t>& p, cudaStream_t stream) {
  require_chase(p, "one");
  one_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
