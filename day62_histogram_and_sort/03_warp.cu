// SPDX-License-Identifier: MIT
// Each warp has a private histogram, so that only its own 32 lanes meet at a bin, and a thread loads 16 keys
// with one instruction. Since block: an eighth of the threads a histogram, a sixteenth of the load
// instructions. Bound by: atomic additions to shared memory. Lanes of one request that want different bins of
// the same bank queue, and 32 random bins share banks: some bank is asked for three or four of them.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day62_histogram_and_sort/histogram.h"

namespace day62 {
namespace {

constexpr int kThreads = kBins;  // a thread merges one bin
constexpr int kWarps = kThreads / days::kWarpSize;
constexpr int kKeys = 16;  // of one load

__global__ void warp_kernel(const uint8_t* keys,  // (n)
                            uint32_t* counts,     // (kBins), zeros before
                            int64_t n) {
  __shared__ uint32_t copies[kWarps][kBins];
  for (int warp = 0; warp < kWarps; ++warp) copies[warp][threadIdx.x] = 0;
  __syncthreads();
  uint32_t* mine = copies[threadIdx.x / days::kWarpSize];

  // The keys up to the first address that is a multiple of 16, whole vectors, and what is left of n.
  const int64_t to_aligned = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(keys) % kKeys);
  const int64_t head = to_aligned < n ? to_aligned : n, vectors = (n - head) / kKeys;
  const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x, step = int64_t{gridDim.x} * kThreads;
  for (int64_t v = thread; v < vectors; v += step) {
    const days::Vec<uint8_t> some = days::load16(keys + head + v * kKeys);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) atomicAdd(&mine[some[i]], 1u);
  }
  if (thread < head) atomicAdd(&mine[keys[thread]], 1u);
  const int64_t last = head + vectors * kKeys + thread;
  if (last < n) atomicAdd(&mine[keys[last]], 1u);

  __syncthreads();
  uint32_t sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += copies[warp][threadIdx.x];
  if (sum != 0) atomicAdd(&counts[threadIdx.x], sum);
}

}  // namespace

void histogram_warp(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "warp");
  const int64_t blocks = std::min(days::ceil_div(p.n, kThreads * kKeys), days::resident_threads() / kThreads);
  CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
  warp_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
