// SPDX-License-Identifier: MIT
// Each thread has a private histogram, of one byte a bin, in a bank of its own: a plain load, an addition and
// a store, which no other thread comes between and for which no lane queues. A byte that goes from 255 to 0
// carries 256 into the block's totals. Since warp: no atomic addition but the carries, and the same work
// whatever the keys are. Bound by: not shared memory, two requests for 32 keys, but 14 instructions a key.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day62_histogram_and_sort/histogram.h"

namespace day62 {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / days::kWarpSize;
constexpr int kKeys = 16;                   // of one load
constexpr int kGroups = kBins / 4;          // of four bins, whose bytes fill a word
constexpr int kParts = kThreads / kGroups;  // that share the merging of a group
static_assert(kThreads % kGroups == 0 && kWarps % kParts == 0);
static_assert(kWarps / kParts * days::kWarpSize * 255 < 65536, "the merge adds bytes up in 16 bits");

struct Shared {
  uint8_t bytes[kWarps][kGroups][days::kWarpSize][4];  // bin b of a lane is [b / 4][lane][b % 4]: bank = lane
  uint32_t totals[kBins];
};

// Adds one key to this thread's histogram, whose first word is at `mine`.
__device__ inline void count(uint8_t* mine, uint32_t* totals, int key) {
  uint8_t& bin = mine[key / 4 * (days::kWarpSize * 4) + key % 4];
  const uint8_t more = static_cast<uint8_t>(bin + 1);
  bin = more;
  if (more == 0) atomicAdd(&totals[key], 256u);
}

__global__ void __launch_bounds__(kThreads) thread_kernel(const uint8_t* keys,  // (n)
                                                          uint32_t* counts,     // (kBins), zeros before
                                                          int64_t n) {
  __shared__ Shared s;
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  for (int group = 0; group < kGroups; ++group) {
    *reinterpret_cast<uint32_t*>(s.bytes[warp][group][lane]) = 0;  // its own, so that no barrier is needed
  }
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) s.totals[bin] = 0;
  __syncthreads();
  uint8_t* mine = s.bytes[warp][0][lane];

  // As in warp: up to an aligned address, whole vectors, what is left.
  const int64_t to_aligned = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(keys) % kKeys);
  const int64_t head = to_aligned < n ? to_aligned : n, vectors = (n - head) / kKeys;
  const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x, step = int64_t{gridDim.x} * kThreads;
  for (int64_t v = thread; v < vectors; v += step) {
    const days::Vec<uint8_t> some = days::load16(keys + head + v * kKeys);
#pragma unroll
    for (int i = 0; i < kKeys; ++i) count(mine, s.totals, some[i]);
  }
  if (thread < head) count(mine, s.totals, keys[thread]);
  const int64_t last = head + vectors * kKeys + thread;
  if (last < n) count(mine, s.totals, keys[last]);
  __syncthreads();

  // A thread adds up one group over the lanes of some warps, two bins to a word. It begins at a lane of its
  // own, or all lanes of the warp would read the same bank.
  const int group = threadIdx.x % kGroups, part = threadIdx.x / kGroups;
  uint32_t even = 0, odd = 0;
  for (int w = part; w < kWarps; w += kParts) {
    for (int i = 0; i < days::kWarpSize; ++i) {
      const uint32_t four =
          *reinterpret_cast<const uint32_t*>(s.bytes[w][group][(lane + i) % days::kWarpSize]);
      even += four & 0x00ff00ff;
      odd += (four >> 8) & 0x00ff00ff;
    }
  }
  const uint32_t sums[] = {even & 0xffff, odd & 0xffff, even >> 16, odd >> 16};
  for (int i = 0; i < 4; ++i) atomicAdd(&s.totals[group * 4 + i], sums[i]);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
    if (s.totals[bin] != 0) atomicAdd(&counts[bin], s.totals[bin]);
  }
}

}  // namespace

void histogram_thread(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "thread");
  int blocks_each = 0;  // that a multiprocessor holds
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, thread_kernel, kThreads, 0));
  const int64_t blocks = std::min(days::ceil_div(p.n, int64_t{kThreads} * kKeys),
                                  int64_t{days::multiprocessors()} * blocks_each);
  CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
  thread_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
