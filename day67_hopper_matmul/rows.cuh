// SPDX-License-Identifier: MIT
//
// What the ladders "fp8" and "fp32" share: tiles of which a and b lie along k, the one way in which wgmma takes types that have not got 16
// bits, and the walk of a block over the tiles of c, as in `persistent`.
#pragma once

#include "day67_hopper_matmul/other_types.h"
#include "day67_hopper_matmul/walk.cuh"

namespace day67 {

// Numbers along k that a stage has: 128 bytes, the widest swizzle.
template <class T>
inline constexpr int kAlong = 128 / static_cast<int>(sizeof(T));

// The tiles of c that the blocks share out, and the stages of each.
struct Walk {
  int down, across, steps;
};
template <class Problem>
Walk walk_of(const Problem& p, int tile_m, int tile_n, int depth, const char* variant) {
  const Walk walk{days::ceil_div(p.m, tile_m), days::ceil_div(p.n, tile_n), days::ceil_div(p.k, depth)};
  const int64_t tiles = int64_t{walk.down} * walk.across;
  days::require(tiles < int64_t{1} << 31, variant, ": a grid has at most 2147483647 blocks; tiles are",
                tiles);
  return walk;
}
// As many blocks as run at once.
inline unsigned blocks_of(const Walk& walk) {
  return static_cast<unsigned>(std::min(walk.down * walk.across, multiprocessors()));
}

// action(place) for each tile of this block.
template <class Action>
__device__ __forceinline__ void for_tiles(const Walk& walk, const Action& action) {
  constexpr int kTogether = 16;
  for (int tile = static_cast<int>(blockIdx.x); tile < walk.down * walk.across;
       tile += static_cast<int>(gridDim.x))
    action(place_of(tile, walk.down, walk.across, kTogether));
}

// One thread keeps the ring full: copy(stage, place, step, full) asks for all parts of a stage.
template <class Stage, int kStages, int kReaders, class Copy>
__device__ __forceinline__ void ask(days::Ring<Stage, kStages, kReaders>& ring, const Walk& walk,
                                    const Copy& copy) {
  days::Turn<kStages> turn;
  for_tiles(walk, [&](Place place) {
    for (int t = 0; t < walk.steps; ++t, turn.next()) {
      uint64_t* const full = &ring.full[turn.stage];
      days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
      days::ptx::mbarrier_arrive_expect_tx(full, sizeof(Stage));
      copy(ring.stage[turn.stage], place, t, full);
    }
  });
}

// sum (64 x 2 * kCount) = a * b of one stage: 64 rows of a, and columns of b, which begin where `a` and `b` do. `add`: to what sum holds.
template <class T, int kCount>
__device__ __forceinline__ void multiply_rows(float (&sum)[kCount], const T* a, const T* b, bool add) {
  const uint64_t at_a = days::ptx::wgmma_descriptor(a), at_b = days::ptx::wgmma_descriptor(b);
#pragma unroll
  for (int step = 0; step < 4; ++step)  // the next 32 bytes along k, of both
    days::ptx::wgmma<T>(sum, at_a + step * (32 >> 4), at_b + step * (32 >> 4), add || step > 0);
}

// A box of so many rows, 128 bytes wide.
template <class T>
CUtensorMap map_of_rows(const T* data, int rows, int cols, int box_rows) {
  return days::tensor_map(data, rows, cols, box_rows, kAlong<T>, CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace day67
