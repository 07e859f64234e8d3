// SPDX-License-Identifier: MIT
//
// A ring of stages in shared memory: one warp asks the copy engine to fill them, others use what has come, and two
// mbarriers a stage say whose turn it is. Day 65 takes it apart (day65_async_copy/05_mbarrier.cu, 06_tensor.cu).
#pragma once

#include <cstdint>

#include "common/ptx.h"
#include "common/util.h"

namespace days {

// Each stage is "full" once the bytes that were announced for it have come, and "empty" once kReaders warps have read it.
template <class Stage, int kStages, int kReaders>
struct Ring {
  Stage stage[kStages];
  uint64_t full[kStages], empty[kStages];

  // For all threads; ends with a barrier.
  __device__ void init() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        ptx::mbarrier_init(&full[s], 1);
        ptx::mbarrier_init(&empty[s], kReaders);
      }
    }
    ptx::fence_proxy_async_shared();  // the engine, too, must see what was written here
    __syncthreads();
  }
  // This warp has read the stage.
  __device__ void release(int s) {
    __syncwarp();
    if (threadIdx.x % kWarpSize == 0) ptx::mbarrier_arrive(&empty[s]);
  }
};

// Whose turn it is in a ring: the stage, and the phase bit of its barriers, which flips with each round. Who uses a
// stage waits for the phase of `full`; who fills one waits for the phase of `empty`, which is one behind: `phase ^ 1`.
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

}  // namespace days
