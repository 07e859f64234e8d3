// SPDX-License-Identifier: MIT
//
// Sixteen elements a thread: a tile of 64 x 64 with the padding of rung 3, moved by 256 threads. The rungs
// `several` and `down` differ only in the order in which blocks take tiles.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace day13 {

constexpr int kSeveralTile = 64;
constexpr int kSeveralThreads = 256;

// Which tile a block takes. Blocks start in the order of their numbers, so neighbours in this order are at
// work at the same time.
struct Across {  // along the rows of in
  __device__ static unsigned tile_row(unsigned, unsigned tiles_across) { return blockIdx.x / tiles_across; }
  __device__ static unsigned tile_col(unsigned, unsigned tiles_across) { return blockIdx.x % tiles_across; }
};
struct Down {  // along the columns of in, which are the rows of out
  __device__ static unsigned tile_row(unsigned tiles_down, unsigned) { return blockIdx.x % tiles_down; }
  __device__ static unsigned tile_col(unsigned tiles_down, unsigned) { return blockIdx.x / tiles_down; }
};

template <class Order, class T>
__global__ void __launch_bounds__(kSeveralThreads)
    several_kernel(const T* in,  // (rows, cols)
                   T* out,       // (cols, rows)
                   unsigned rows, unsigned cols, unsigned tiles_down, unsigned tiles_across) {
  constexpr unsigned kTile = kSeveralTile, kWarps = kSeveralThreads / 32;
  __shared__ T tile[kTile][kTile + 1];
  // 32 bits, unsigned: an index past the last row of a matrix of 2^31 - 1 rows still fits, and 64-bit guards
  // would cost as much as the loads that they guard.
  const unsigned row0 = Order::tile_row(tiles_down, tiles_across) * kTile;
  const unsigned col0 = Order::tile_col(tiles_down, tiles_across) * kTile;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  // Both loops are unrolled, so that all sixteen loads are under way before the first is waited for.
#pragma unroll
  for (unsigned n = 0; n < kTile / kWarps; ++n) {
    const unsigned i = n * kWarps + warp, row = row0 + i;
#pragma unroll
    for (unsigned m = 0; m < kTile / 32; ++m) {
      const unsigned j = m * 32 + lane, col = col0 + j;
      if (row < rows && col < cols) tile[i][j] = in[int64_t{row} * cols + col];
    }
  }
  __syncthreads();
#pragma unroll 4  // 32 registers a thread: a multiprocessor still holds 2,048 of them
  for (unsigned n = 0; n < kTile / kWarps; ++n) {
    const unsigned j = n * kWarps + warp, col = col0 + j;
#pragma unroll
    for (unsigned m = 0; m < kTile / 32; ++m) {
      const unsigned i = m * 32 + lane, row = row0 + i;
      if (col < cols && row < rows) out[int64_t{col} * rows + row] = tile[i][j];
    }
  }
}

}  // namespace day13
