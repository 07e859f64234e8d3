// SPDX-License-Identifier: MIT
//
// What the persistent rungs share: the order in which blocks take tiles, and sums that leave by the copy engine.
#pragma once

#include "day67_hopper_matmul/copies.cuh"

namespace day67 {

// Tiles in groups of `together` rows of tiles, column by column: those that run at the same time want a square of c, as day 66's `grouped`.
struct Place {
  int row, col;  // of tiles
};
__device__ __forceinline__ Place place_of(int tile, int down, int across, int together) {
  const int first = tile / (together * across) * together, rest = tile % (together * across);
  const int height = min(together, down - first);
  return {first + rest % height, rest / height};
}

// sum (64 x kN) += a tile's rows from `row` on, over all `steps` along k, as in `roles`. turn goes on from tile to tile;
// release(s): this warp has read stage s.
template <class T, int kM, int kN, int kStages, class Release>
__device__ __forceinline__ void multiply_tile(float (&sum)[kN / 2], const Stage<T, kM, kN> (&stages)[kStages],
                                              uint64_t (&full)[kStages], int row, int steps,
                                              days::Turn<kStages>& turn, const Release& release) {
  int before = 0;
  for (int t = 0; t < steps; ++t, turn.next()) {
    days::ptx::mbarrier_wait(&full[turn.stage], turn.phase);
    days::ptx::wgmma_fence();
    multiply_stage(sum, stages[turn.stage], row);
    days::ptx::wgmma_commit_group();
    days::ptx::wgmma_wait_group<1>();
    if (t > 0) release(before);
    before = turn.stage;
  }
  days::ptx::wgmma_wait_group<0>();
  release(before);
}

// A warpgroup's way out: two slabs of 64 x 64 take turns, swizzled as a and b.
template <class T>
struct alignas(1024) WayOut {
  T slab[2][kRows * kSlab];
};

// A warpgroup's sums to c at (row, col), which the map's box of 64 x 64 leaves. It returns when the last slabs are still being read.
// barrier: a number that the warpgroup has for itself.
template <class T, int kN>
__device__ __forceinline__ void store_slabs(WayOut<T>& out, const CUtensorMap& c, int row, int col,
                                            const float (&sum)[kN], uint32_t barrier) {
  const int thread = static_cast<int>(threadIdx.x) % kGroup, lane = thread % days::kWarpSize,
            warp = thread / days::kWarpSize;
  const bool leads = thread == 0;
#pragma unroll
  for (int slab = 0; slab < 2 * kN / kSlab; ++slab) {
    T* const to = out.slab[slab % 2];
    if (leads) days::ptx::cp_async_bulk_wait_group_read<1>();  // the slab's last copy has read it
    days::ptx::bar_sync(barrier, kGroup);
#pragma unroll
    for (
        int pair = 0; pair < 4;
        ++pair) {  // 16 columns: four matrices of 8 x 8, rows 0 and 8 of the left ones, then of the right ones
      const float* const s = sum + (slab * 8 + pair * 2) * 4;
      const uint32_t matrices[4] = {pack<T>(s[0], s[1]), pack<T>(s[2], s[3]), pack<T>(s[4], s[5]),
                                    pack<T>(s[6], s[7])};
      const int down = warp * 16 + lane / 8 % 2 * 8 + lane % 8, piece = pair * 2 + lane / 16;
      days::ptx::stmatrix(to + down * kSlab + (piece ^ down % 8) * 8, matrices);
    }
    days::ptx::fence_proxy_async_shared();
    days::ptx::bar_sync(barrier, kGroup);
    if (leads) {
      days::ptx::cp_async_bulk_tensor_store(&c, to, col + slab * kSlab, row);
      days::ptx::cp_async_bulk_commit_group();
    }
  }
}

template <class T>
CUtensorMap map_of_c(const Matmul<T>& p) {
  return days::tensor_map(p.c, p.m, p.n, kRows, kSlab, CU_TENSOR_MAP_SWIZZLE_128B);
}

inline int multiprocessors() {
  int device = 0, count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

}  // namespace day67
