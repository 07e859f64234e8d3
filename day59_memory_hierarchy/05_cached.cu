// SPDX-License-Identifier: MIT
// A table of 4 KiB in global memory. After its first reads it lies in L1, so this is what L1 answers in.
// Bound by: L1's pipeline. A request whose lanes want 32 lines takes 32 turns in it.
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kThreads) cached_kernel(const uint32_t* table,  // (kTable)
                                                          uint32_t* y,            // (n)
                                                          int64_t n, int stride, int steps) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t place = static_cast<uint32_t>(stride * i % kTable);
  for (int step = 0; step < steps; ++step) place = table[place];
  y[i] = place;
}

}  // namespace

void lookup_cached(const Lookup<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_lookup(p, "cached");
  cached_kernel<<<blocks, kThreads, 0, stream>>>(p.table, p.y, p.n, p.stride, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
