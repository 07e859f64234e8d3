// SPDX-License-Identifier: MIT
// Changed since one: the thread walks eight chains at once. Their loads do not wait for each other, so eight are under way
// in the time of one. This is parallelism within a thread, of its instructions (ILP).
// Bound by: the latency still, for an eighth of the waiting.
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

constexpr int kAtOnce = 8;

__global__ void __launch_bounds__(kTouchers) eight_kernel(const uint32_t* next,  // (kLineWords * lines)
                                                          uint32_t* end,         // (chains)
                                                          int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  if (threadIdx.x > 0) return;
  for (int first = 0; first < chains; first += kAtOnce) {
    uint32_t places[kAtOnce];
    int chain = first;
    for (uint32_t& place : places) place = static_cast<uint32_t>(kLineWords * (chain++ % lines));
    for (int step = 0; step < steps; ++step) {
      for (uint32_t& place : places) place = next[place];
    }
    chain = first;
    for (const uint32_t place : places) {
      if (chain < chains) end[chain] = place;
      ++chain;
    }
  }
}

}  // namespace

void chase_eight(const Chase<uint32_t>& p, cudaStream_t stream) {
  require_chase(p, "eight");
  eight_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
