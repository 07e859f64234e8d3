// SPDX-License-Identifier: MIT
// The first two steps of a pass in scatter and staged: each tile's histogram of a digit, and from all of them
// where the keys of each tile with each digit begin in the sorted order of the digit.
#pragma once

#include <cuda_runtime.h>

#include "common/check.h"
#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {

inline constexpr int kTileThreads = kDigits, kTileItems = 16;  // a thread also looks after one digit
inline constexpr int kTileKeys = kTileThreads * kTileItems;
inline constexpr int kTileWarps = kTileThreads / days::kWarpSize;

// The tile's keys as a warp holds them: consecutive for the warp, 32 neighbours a load, so that the order is
// warp by warp, load by load, lane by lane. What lies past the end of `in` is the largest key: it has the
// largest digit in every pass and comes last in its tile, so that it moves no other key.
__device__ inline void load_tile(uint32_t (&keys)[kTileItems], const uint32_t* in, int64_t tile, int64_t n) {
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  const int64_t first = tile * kTileKeys + warp * (kTileItems * days::kWarpSize) + lane;
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    const int64_t at = first + i * days::kWarpSize;
    keys[i] = at < n ? in[at] : ~0u;
  }
}

// The number of keys with digit threadIdx.x in tiles before this block's one, and with smaller digits in all
// tiles: where in the pass's output those of this tile begin. All threads of the block call it.
__device__ inline uint32_t digit_start(const uint32_t* counts,  // (kDigits, tiles), scanned along tiles
                                       const uint32_t* totals,  // (kDigits)
                                       int64_t tiles) {
  uint32_t all;
  const uint32_t smaller = days::block_exclusive_scan<kTileThreads>(totals[threadIdx.x], all);
  return smaller + counts[threadIdx.x * tiles + blockIdx.x];
}

// Scratch memory of a pass, within the workspace.
struct TileScratch {
  uint32_t* keys;    // (n): every other pass writes here
  uint32_t* totals;  // (kDigits)
  uint32_t* counts;  // (kDigits, tiles)
  int64_t tiles;

  explicit TileScratch(const RadixSort<uint32_t>& p)
      : keys(static_cast<uint32_t*>(p.workspace.data)),
        totals(keys + p.n),
        counts(totals + kDigits),
        tiles(days::ceil_div(p.n, kTileKeys)) {}
};

// Launches the two kernels, after which digit_start(s.counts, s.totals, s.tiles) is known. In
// digit_starts.cu.
void launch_digit_starts(const uint32_t* in, int64_t n, int pass, const TileScratch& s, cudaStream_t stream);

}  // namespace day62
