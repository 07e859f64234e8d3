// SPDX-License-Identifier: MIT
// Changed since cached: the table lies in constant memory, whose cache hands one word to all lanes at a time. Lanes that
// want different words are served one word after the other.
// Bound by: the different addresses of a request: 1 at best, 32 at worst.
// Teaches: __constant__.
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

__constant__ uint32_t constant_table[kTable];

__global__ void __launch_bounds__(kThreads) constant_kernel(uint32_t* y,  // (n)
                                                            int64_t n, int stride, int steps) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t place = static_cast<uint32_t>(stride * i % kTable);
  for (int step = 0; step < steps; ++step) place = constant_table[place];
  y[i] = place;
}

}  // namespace

void lookup_constant(const Lookup<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_lookup(p, "constant");
  // In the order of the stream. There is one such table in the program: two launches in two streams would share it.
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_table, p.table, kTable * sizeof(uint32_t), 0,
                                     cudaMemcpyDeviceToDevice, stream));
  constant_kernel<<<blocks, kThreads, 0, stream>>>(p.y, p.n, p.stride, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
