// SPDX-License-Identifier: MIT
// A block's tile of a compaction in registers: which elements stay, and where each goes within the tile.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"

namespace day62 {

// kItems elements a thread. A warp's are consecutive, and its i-th load takes 32 neighbours: so the order of
// x is warp by warp, load by load, lane by lane.
template <int kThreads, int kItems>
struct Kept {
  static constexpr int kTile = kThreads * kItems;

  float value[kItems];
  unsigned kept[kItems];  // of the i-th load: the lanes that keep theirs
  int before;             // elements that this warp's threads keep in the tile come after so many
  int total;              // elements that the tile keeps

  // All threads of the block call it. `first`: where in x the tile begins.
  __device__ Kept(const float* x, int64_t first, int64_t n, float threshold) {
    const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
    first += warp * (kItems * days::kWarpSize) + lane;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int64_t at = first + i * days::kWarpSize;
      value[i] = at < n ? x[at] : threshold;  // past the end: not above it
    }
    int mine = 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      kept[i] = __ballot_sync(days::kFullWarp, value[i] > threshold);
      mine += __popc(kept[i]);
    }
    // One lane of each warp brings the warp's number: the sum over all threads before a warp's first one is
    // what the warps before it keep.
    before = days::block_exclusive_scan<kThreads>(lane == 0 ? mine : 0, total);
    before = __shfl_sync(days::kFullWarp, before, 0);
  }

  // Writes the kept ones to y from `first` on, in the order of x.
  __device__ void write(float* y, int64_t first) const {
    const unsigned below = (1u << threadIdx.x % days::kWarpSize) - 1;
    first += before;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (kept[i] >> threadIdx.x % days::kWarpSize & 1) y[first + __popc(kept[i] & below)] = value[i];
      first += __popc(kept[i]);
    }
  }
};

}  // namespace day62
