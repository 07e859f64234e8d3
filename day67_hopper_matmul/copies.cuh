// SPDX-License-Identifier: MIT
//
// What the rungs after `copied` share: one thread asks for a whole stage, as there.
#pragma once

#include "common/ring.cuh"
#include "day67_hopper_matmul/tiles.cuh"

namespace day67 {

// One thread asks for a stage at (row, col) of c and step t along k, whose bytes `full` counts.
template <class T, int kM, int kN>
__device__ __forceinline__ void copy_stage(Stage<T, kM, kN>& stage, const CUtensorMap& a,
                                           const CUtensorMap& b, int row, int col, int t, uint64_t* full) {
  days::ptx::mbarrier_arrive_expect_tx(full, sizeof stage);
  days::ptx::cp_async_bulk_tensor(stage.a, &a, t * kDepth, row, full);
#pragma unroll
  for (int slab = 0; slab < kN / kSlab; ++slab)
    days::ptx::cp_async_bulk_tensor(stage.b[slab], &b, col + slab * kSlab, t * kDepth, full);
}

}  // namespace day67
