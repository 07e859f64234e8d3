// SPDX-License-Identifier: MIT
//
// mbarrier's ring for tensor, in which a warp of its own asks the copy engine for the rows.
#pragma once

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"

namespace day65 {

// The rows of a stage. One wait, one arrival and one announcement are then for three rows.
inline constexpr int kRows = 3;

// Each stage is "full" once the bytes that were announced for it have come, and "empty" once kReaders warps have read it.
template <class Stage, int kStages, int kReaders>
struct Ring {
  Stage stage[kStages];
  uint64_t full[kStages], empty[kStages];

  // For all threads; ends with a barrier.
  __device__ void init() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        days::ptx::mbarrier_init(&full[s], 1);
        days::ptx::mbarrier_init(&empty[s], kReaders);
      }
    }
    days::ptx::fence_proxy_async_shared();  // the engine, too, must see what was written here
    __syncthreads();
  }
  // This warp has read the stage.
  __device__ void release(int s) {
    __syncwarp();
    if (threadIdx.x % days::kWarpSize == 0) days::ptx::mbarrier_arrive(&empty[s]);
  }
};

// Whose turn it is in a ring: the stage, and the phase bit of its barriers, which flips with each round.
template <int kStages>
struct Turn {
  int stage = 0;
  uint32_t phase = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// How many stages bring all rows that a part needs. The sums go by nine names, so it is a multiple of nine rows; what comes
// behind the last one is added to sums that nobody stores.
__device__ inline int stages_of(const Part& part) {
  return (part.last - part.first + 2 * kRadius + kSums - 1) / kSums * (kSums / kRows);
}

}  // namespace day65
