// SPDX-License-Identifier: MIT
//
// A stable sort of whole numbers, each with a value, by digits: the passes that day 62 takes apart
// (day62_histogram_and_sort/10_scatter.cu). A pass counts a digit in each tile, scans the counts, and moves each pair to where its
// digit begins, in the order in which the pairs come. Three launches a pass.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/scan.cuh"
#include "common/util.h"

namespace days {

// ---- where digits begin ----

// How often each digit occurs in the block's tile of kItems keys a thread. key(i): the i-th of all; digit(key).
template <int kThreads, int kItems, int kDigits, class Key, class Digit>
__global__ void __launch_bounds__(kThreads) count_digits_kernel(const Key key,
                                                                uint32_t* counts,  // (kDigits, tiles)
                                                                int64_t n, const Digit digit) {
  __shared__ uint32_t mine[kDigits];
#pragma unroll
  for (int d = 0; d < kDigits; d += kThreads) mine[d + threadIdx.x] = 0;
  __syncthreads();
  const int64_t first = int64_t{blockIdx.x} * (kThreads * kItems) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t at = first + i * kThreads;
    if (at < n) atomicAdd(&mine[digit(key(at))], 1u);
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < kDigits; d += kThreads)
    counts[int64_t{d + threadIdx.x} * gridDim.x + blockIdx.x] = mine[d + threadIdx.x];
}

// The two launches, after which a tile's keys with digit d begin behind totals[0 ... d - 1] and counts[d, tile]. A tile is
// kThreads * kItems keys; those that begin past the n-th have none.
template <int kThreads, int kItems, int kDigits, class Key, class Digit>
void count_digits(Key key, Digit digit, int64_t n, int64_t tiles, uint32_t* counts, uint32_t* totals,
                  cudaStream_t stream) {
  static_assert(kDigits % kThreads == 0);
  count_digits_kernel<kThreads, kItems, kDigits>
      <<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(key, counts, n, digit);
  CUDA_CHECK_LAUNCH();
  constexpr int kScanThreads = 64, kScanItems = 8;
  scan_rows_kernel<kScanThreads, kScanItems><<<kDigits, kScanThreads, 0, stream>>>(counts, totals, tiles);
  CUDA_CHECK_LAUNCH();
}

// ---- the sort ----

inline constexpr int kSortThreads = 256, kSortItems = 8;
inline constexpr int kSortTile = kSortThreads * kSortItems, kSortWarps = kSortThreads / kWarpSize;
inline constexpr int kMostSortBits = 9;                         // of a pass
inline constexpr int64_t kMostSorted = (int64_t{1} << 31) - 1;  // pairs

// Bits of a key from `shift` on.
template <int kBits>
struct SortDigit {
  int shift;
  __device__ uint32_t operator()(uint32_t key) const { return key >> shift & ((1u << kBits) - 1); }
};
// Pairs of an earlier pass.
struct SortPairs {
  uint32_t *keys, *values;  // (n)
  __device__ uint32_t key(int64_t i) const { return keys[i]; }
  __device__ uint32_t value(int64_t i) const { return values[i]; }
};
template <class Pairs>
struct KeyOf {
  Pairs pairs;
  __device__ uint32_t operator()(int64_t i) const { return pairs.key(i); }
};

// The lanes whose digit is this lane's. Each bit of the digit halves the choice.
template <int kBits>
__device__ inline unsigned lanes_with_digit(uint32_t digit) {
  unsigned peers = kFullWarp;
#pragma unroll
  for (int bit = 0; bit < kBits; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned ones = __ballot_sync(kFullWarp, set);
    peers &= set ? ones : ~ones;
  }
  return peers;
}

// A warp goes through its pairs in order, 32 at a time, with counters of its own, so that a pair's rank follows the order.
template <int kBits, class Pairs>
__global__ void __launch_bounds__(kSortThreads) move_pairs_kernel(const Pairs from, const SortPairs to,
                                                                  const uint32_t* counts,  // (digits, tiles)
                                                                  const uint32_t* totals,  // (digits)
                                                                  int64_t n, const SortDigit<kBits> digit) {
  constexpr int kDigits = 1 << kBits, kEach = kDigits / kSortThreads;  // digits that a thread looks after
  __shared__ uint32_t counters[kSortWarps][kDigits];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize,
            warp = static_cast<int>(threadIdx.x) / kWarpSize;
  for (int i = static_cast<int>(threadIdx.x); i < kSortWarps * kDigits; i += kSortThreads)
    counters[i / kDigits][i % kDigits] = 0;
  const int64_t first = int64_t{blockIdx.x} * kSortTile + warp * (kSortItems * kWarpSize) + lane;
  uint32_t keys[kSortItems], rank[kSortItems];
#pragma unroll
  for (int i = 0; i < kSortItems; ++i) {
    const int64_t at = first + i * kWarpSize;
    keys[i] = at < n ? from.key(at) : ~0u;  // past the end: the largest digit, behind all others of the tile
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSortItems; ++i) {
    const unsigned peers = lanes_with_digit<kBits>(digit(keys[i]));
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    uint32_t before = 0;
    if (lane == leader)
      before = atomicAdd(&counters[warp][digit(keys[i])], static_cast<uint32_t>(__popc(peers)));
    before = __shfl_sync(kFullWarp, before, leader);
    rank[i] = before + static_cast<uint32_t>(__popc(peers & ((1u << lane) - 1)));
  }
  __syncthreads();

  // A counter becomes where the warp's pairs with that digit begin in `to`.
  uint32_t total[kEach], sum = 0, all;
#pragma unroll
  for (int e = 0; e < kEach; ++e) sum += total[e] = totals[threadIdx.x * kEach + e];
  uint32_t smaller = block_exclusive_scan<kSortThreads>(sum, all);
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const uint32_t d = threadIdx.x * kEach + e;
    uint32_t start = smaller + counts[int64_t{d} * gridDim.x + blockIdx.x];
    for (int w = 0; w < kSortWarps; ++w) {
      const uint32_t here = counters[w][d];
      counters[w][d] = start;
      start += here;
    }
    smaller += total[e];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSortItems; ++i) {
    const int64_t at = first + i * kWarpSize;
    if (at >= n) continue;
    const uint32_t place = counters[warp][digit(keys[i])] + rank[i];
    to.keys[place] = keys[i];
    to.values[place] = from.value(at);
  }
}

// Scratch memory of a sort of n pairs: other pairs and what is counted.
inline size_t sort_pairs_workspace(int64_t n) {
  const auto tiles = static_cast<size_t>(ceil_div(n, int64_t{kSortTile}));
  return sizeof(uint32_t) * (2 * static_cast<size_t>(n) + (tiles + 1) * (size_t{1} << kMostSortBits));
}

namespace detail {

struct SortScratch {
  SortPairs pairs;
  uint32_t *totals, *counts;
  SortScratch(void* memory, int64_t n)
      : pairs{static_cast<uint32_t*>(memory), static_cast<uint32_t*>(memory) + n},
        totals(pairs.values + n),
        counts(totals + (1 << kMostSortBits)) {}
};

template <int kBits, class Pairs>
void sort_pass(Pairs from, SortPairs to, int64_t n, int shift, const SortScratch& s, cudaStream_t stream) {
  const SortDigit<kBits> digit{shift};
  const int64_t tiles = ceil_div(n, int64_t{kSortTile});
  count_digits<kSortThreads, kSortItems, 1 << kBits>(KeyOf<Pairs>{from}, digit, n, tiles, s.counts, s.totals,
                                                     stream);
  move_pairs_kernel<kBits>
      <<<static_cast<unsigned>(tiles), kSortThreads, 0, stream>>>(from, to, s.counts, s.totals, n, digit);
  CUDA_CHECK_LAUNCH();
}

}  // namespace detail

// sorted: the n pairs (from.key(i), from.value(i)), smallest key first, those with equal keys in the order of i. Keys have no bits
// from `bits` on, 1 to 32. `memory`: sort_pairs_workspace(n) bytes, aligned to 4; it may not overlap what from reads, and neither
// may `sorted`. Throws std::invalid_argument.
template <class Pairs>
void sort_pairs(Pairs from, SortPairs sorted, int64_t n, int bits, void* memory, cudaStream_t stream) {
  require(n > 0 && n <= kMostSorted, "sort_pairs: from 1 to", kMostSorted, "pairs, not", n);
  require(bits > 0 && bits <= 32, "sort_pairs: keys have 1 to 32 bits, not", bits);
  const detail::SortScratch s(memory, n);
  const int passes = ceil_div(bits, kMostSortBits), each = ceil_div(bits, passes);
  for (int pass = 0; pass < passes; ++pass) {
    // Passes write to the one and the other in turn, and the last one to `sorted`.
    const SortPairs to = (passes - pass) % 2 == 1 ? sorted : s.pairs;
    const SortPairs other = (passes - pass) % 2 == 1 ? s.pairs : sorted;
    const auto run = [&](auto pairs) {
      if (each <= 8) {
        detail::sort_pass<8>(pairs, to, n, pass * each, s, stream);
      } else {
        detail::sort_pass<9>(pairs, to, n, pass * each, s, stream);
      }
    };
    if (pass == 0) {
      run(from);
    } else {
      run(other);
    }
  }
}

}  // namespace days
