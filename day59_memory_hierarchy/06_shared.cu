// SPDX-License-Identifier: MIT
// Changed since cached: the block copies the table to shared memory. There 32 different places cost one turn, if they lie
// in 32 banks, and places of one bank queue up.
// Bound by: shared memory's pipeline, one turn for each place of the fullest bank.
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kThreads) shared_kernel(const uint32_t* table,  // (kTable)
                                                          uint32_t* y,            // (n)
                                                          int64_t n, int stride, int steps) {
  __shared__ uint32_t near[kTable];
  for (int word = threadIdx.x; word < kTable; word += kThreads) near[word] = table[word];
  __syncthreads();
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t place = static_cast<uint32_t>(stride * i % kTable);
  for (int step = 0; step < steps; ++step) place = near[place];
  y[i] = place;
}

}  // namespace

void lookup_shared(const Lookup<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_lookup(p, "shared");
  shared_kernel<<<blocks, kThreads, 0, stream>>>(p.table, p.y, p.n, p.stride, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
