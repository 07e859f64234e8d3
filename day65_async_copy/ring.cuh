// SPDX-License-Identifier: MIT
//
// The ring of rung 8 for the rungs after it, whose rows one thread asks the copy engine for.
#pragma once

#include <cstdint>

#include "common/ptx.h"
#include "day65_async_copy/march.cuh"

namespace day65 {

// Each stage is "full" once the bytes that were announced for it have come, and "empty" once all warps have read it.
template <int kStages>
struct alignas(128) Ring {
  Row stage[kStages];
  uint64_t full[kStages], empty[kStages];

  // For all threads; ends with a barrier.
  __device__ void init() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        days::ptx::mbarrier_init(&full[s], 1);
        days::ptx::mbarrier_init(&empty[s], kThreads / days::kWarpSize);
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

}  // namespace day65
