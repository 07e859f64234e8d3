// SPDX-License-Identifier: MIT
//
// Exercise: many loads under way. `./days check 59` copies this file to my/day59.cu.
//
// Goal: walk all chains, and ask for at least 100 bytes with each request. A chain cannot be made faster; walk many at the
// time of one.
//
//  1. touch() is there: it has read every line once. All 1,024 threads of the block take part in it.
//  2. How many threads must walk, if one request is to ask for 32 places? Which ones, so that they share the request?
//  3. Chain c begins at place kLineWords * (c % lines). There may be more chains than lanes, or fewer.
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kTouchers) exercise_kernel(const uint32_t* next,  // (kLineWords * lines)
                                                             uint32_t* end,         // (chains)
                                                             int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  // your code
  static_cast<void>(chains), static_cast<void>(steps);
}

}  // namespace

void exercise(const Chase<uint32_t>& p, cudaStream_t stream) {
  require_chase(p, "exercise");
  exercise_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
