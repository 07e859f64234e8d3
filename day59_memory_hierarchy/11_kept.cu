// SPDX-License-Identifier: MIT
// kept: a thread keeps 64 words in registers, which answer without any request. A block of 256 threads may have 255
// registers a thread, so all of them fit.
// spilled: the same lines, with the promise that as many threads as a multiprocessor can hold will be there at once. Of 2,048
// each has 32 registers, and what does not fit is stored in local memory, global memory behind L1, and loaded again.
// Bound by: instructions (kept); the spills' loads and stores (spilled).
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

__device__ inline uint32_t rounds_of(uint32_t x, int rounds) {
  uint32_t state[kState];
  for (uint32_t& word : state) word = x++;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < kState - 1; ++k) state[k] = mixed(state[k], state[k + 1]);
    state[kState - 1] = mixed(state[kState - 1], state[0]);
  }
  uint32_t sum = 0;
  for (const uint32_t word : state) sum += word;
  return sum;
}

constexpr int kCrowd = 512;  // threads of a block of `spilled`
// So many of these blocks are all that a multiprocessor can hold.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int kCrowds = 2;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
constexpr int kCrowds = 3;
#else
[[maybe_unused]] constexpr int kCrowds = 4;  // which a CPU does not read
#endif

__global__ void __launch_bounds__(kThreads) kept_kernel(const uint32_t* x,  // (n)
                                                        uint32_t* y,        // (n)
                                                        int64_t n, int rounds) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = rounds_of(x[i], rounds);
}

__global__ void __launch_bounds__(kCrowd, kCrowds) spilled_kernel(const uint32_t* x,  // (n)
                                                                  uint32_t* y,        // (n)
                                                                  int64_t n, int rounds) {
  const int64_t i = int64_t{blockIdx.x} * kCrowd + threadIdx.x;
  if (i < n) y[i] = rounds_of(x[i], rounds);
}

}  // namespace

void mix_kept(const Mix<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_rounds(p, "kept");
  kept_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n, p.rounds);
  CUDA_CHECK_LAUNCH();
}

void mix_spilled(const Mix<uint32_t>& p, cudaStream_t stream) {
  require_rounds(p, "spilled");
  spilled_kernel<<<static_cast<unsigned>(days::ceil_div(p.n, kCrowd)), kCrowd, 0, stream>>>(p.x, p.y, p.n,
                                                                                            p.rounds);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
