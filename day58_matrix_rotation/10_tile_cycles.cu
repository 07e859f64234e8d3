// SPDX-License-Identifier: MIT
//
// A block owns a ring of four tiles: it loads all four into shared memory, waits, and stores each in the next one's place. Changed since
// cycles: of all four tiles, rows of the picture are read and written by lanes side by side. In two of the tiles these rows are the
// owner's columns, so there lanes walk down the tile, whose rows are padded as in day 13.
// Bound by: the memory.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockY = 8;  // a thread moves 4 pixels of each tile

// Where pixel (row, col) of the owner's tile is after `turns` turns, as an index.
__device__ int64_t after(int turns, int row, int col, int side, int quarters) {
  Place at{row, col};
  for (int i = 0; i < turns; ++i) at = turned(at.row, at.col, side, side, quarters);
  return index(at, side);
}

template <class T>
__global__ void tile_cycles_kernel(T* image,  // (side, side)
                                   int side, int quarters) {
  __shared__ T tile[4][kTile][kTile + 1];  // [turns][row of the owner's tile][column of it]
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int lane = threadIdx.x, first = threadIdx.y;

  // After an even number of turns the owner's rows are rows of the picture, after an odd number its columns are: along these go
  // the lanes, and each thread takes every eighth. visit(pixel of the picture, turns, row and column in the owner's tile).
  const auto each_pixel = [&](const auto& visit) {
#pragma unroll
    for (int turns = 0; turns < 4; ++turns) {
      const bool even = turns % 2 == 0;
      const int row = row0 + (even ? first : lane), col = col0 + (even ? lane : first);
      const int64_t start = after(turns, row, col, side, quarters);
      const int64_t step =
          after(turns, row + (even ? kBlockY : 0), col + (even ? 0 : kBlockY), side, quarters) - start;
#pragma unroll  // so that all sixteen loads are under way before the first is waited for
      for (int n = 0; n < kTile / kBlockY; ++n) {
        const int k = first + n * kBlockY, i = even ? k : lane, j = even ? lane : k;
        if (row0 + i < side / 2 && col0 + j < (side + 1) / 2) visit(image[start + n * step], turns, i, j);
      }
    }
  };
  each_pixel([&](T& pixel, int turns, int i, int j) { tile[turns][i][j] = pixel; });
  __syncthreads();  // nothing is overwritten before all four tiles are here
  each_pixel([&](T& pixel, int turns, int i, int j) { pixel = tile[(turns + 3) % 4][i][j]; });
}

}  // namespace

template <class T>
void tile_cycles(const InPlace<T>& p, cudaStream_t stream) {
  require_square(p, "tile_cycles");
  const int half = days::ceil_div(p.height, 2);
  days::require(half <= kTile * days::kMaxGridY,
                "tile_cycles: a grid has 65,535 blocks of 32 rows of a half:", half);
  const dim3 block(kTile, kBlockY);
  const dim3 grid(days::ceil_div(half, kTile), days::ceil_div(half, kTile));
  tile_cycles_kernel<<<grid, block, 0, stream>>>(p.image, p.height, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(tile_cycles, InPlace, uint32_t, uint8_t);

}  // namespace day58
