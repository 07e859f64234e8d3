// SPDX-License-Identifier: MIT
// Day 11: the launchers. The problem, c = a * b in row-major order, is shared by all matmul days.
#pragma once

#include <cuda_runtime.h>

#include "common/problems/matmul.h"

namespace day11 {

using days::Matmul;

// The same, and how large a tile of c a block is to make: a number of the problem, so that it can be tried.
template <class T>
struct TiledMatmul : Matmul<T> {
  int tile;  // rows and columns
};

// A grid's y has at most 65,535 blocks of 32 rows or more.
inline constexpr auto kMAlongY = days::at_most("m", 32 * days::kMaxGridY, [](const auto& p) { return p.m; });
// A warp's 32 lanes take 32 columns of a row of the tile.
inline constexpr auto kWholeTile = days::multiple_of("tile", 32, [](const auto& p) { return p.tile; });
inline constexpr auto kSomeTile = days::at_least("tile", 32, [](const auto& p) { return p.tile; });

// Bytes of shared memory for a tile of c: `depth` columns of a, `depth` rows of b, and the sums.
inline constexpr int kDepth = 32;
constexpr int64_t tile_bytes(int64_t tile) {
  return static_cast<int64_t>(sizeof(float)) * (tile * kDepth + kDepth * tile + tile * tile);
}
// That the device gives a block so much.
inline constexpr auto kFittingTile =
    days::needs("4 * tile * (64 + tile) bytes of shared memory a block", [](const auto& p) {
      return tile_bytes(p.tile) <= days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    });

// A thread makes one element of c, in blocks of 32 x 32.
void matmul_direct(const Matmul<float>&, cudaStream_t);
void matmul_tiled(const Matmul<float>&, cudaStream_t);
// 512 threads make a tile of 64 x 64, of the size that the occupancy API suggests, or of p.tile.
void matmul_dynamic(const Matmul<float>&, cudaStream_t);
void matmul_picked(const Matmul<float>&, cudaStream_t);
void matmul_by_hand(const TiledMatmul<float>&, cudaStream_t);
// What picked decides for a matrix c of m rows and n columns, on the current device.
int picked_tile(int m, int n);
// Blocks of this tile that a multiprocessor holds at once; 0: not even one.
int resident_blocks(int tile);

// Yours: exercise.cu.
void exercise(const Matmul<float>&, cudaStream_t);

}  // namespace day11
