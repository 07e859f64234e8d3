// SPDX-License-Identifier: MIT
//
// An arrival at another block's barrier that says "I have read this", and nothing of what was written.
#pragma once

#include "common/ptx.h"

namespace days::ptx {

// mbarrier.arrive.shared::cluster.b64: an arrival at the barrier that stands at the same place in the shared memory of the
// cluster's block `rank`. Section "mbarrier.arrive". Its scope is the default, .cta: what the thread wrote is not said to be seen by
// the other block. For that there is mbarrier_arrive_cluster, whose release nvcc makes a fence of the whole GPU's memory
// (MEMBAR.ALL.GPU), which waits for all that the warp has under way. Who has only read needs no fence: its values are there.
__device__ __forceinline__ void mbarrier_arrive_reader(uint64_t* barrier, uint32_t rank) {
#ifdef __SIMT__
  simt::mbarrier_arrive(static_cast<uint64_t*>(simt::map_shared(barrier, rank)));
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(detail::shared_address(barrier)),
      "r"(rank)
      : "memory");
#endif
}

}  // namespace days::ptx
