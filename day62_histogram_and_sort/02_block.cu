// SPDX-License-Identifier: MIT
// Each block counts in a private histogram in its shared memory, and adds it to the result once, at its end.
// Since global: atomic additions to L2 fall from one a key to at most 256 a block. Bound by: the atomic
// additions to shared memory, where the 256 threads of a block still meet at the same bins, and by loads of
// one byte a thread.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/histogram.h"

namespace day62 {
namespace {

constexpr int kThreads = kBins;  // a thread clears and merges one bin

__global__ void block_kernel(const uint8_t* keys,  // (n)
                             uint32_t* counts,     // (kBins), zeros before
                             int64_t n) {
  __shared__ uint32_t mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    atomicAdd(&mine[keys[i]], 1u);
  }
  __syncthreads();  // a bin is merged only when every thread has counted
  if (mine[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

}  // namespace

void histogram_block(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "block");
  const int64_t blocks = std::min(days::ceil_div(p.n, kThreads), days::resident_threads() / kThreads);
  CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
  block_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
