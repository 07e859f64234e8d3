// SPDX-License-Identifier: MIT
//
// Two rungs that differ in the order of their blocks alone.
//
// several: sixteen elements a thread instead of four. Changed since padded: the tile's side is 64, and a thread
// has sixteen loads before its barrier. So the time in which it has none under way, while it waits, stores and
// makes room for a thread of a new block, comes less often. The grid is one-dimensional and takes any shape.
// Bound by: the memory, whose pages are written in pieces of 256 bytes, one a row of out.
// Teaches: #pragma unroll.
//
// down: the same kernel with its blocks numbered down the columns of in. Changed since several: the blocks that
// run at the same time write neighbouring pieces of the same rows of out, where before they wrote to thousands
// of rows at once. It is the reads that lie apart now, and they suffer less from it.
// Bound by: the memory, as a copy is, where the rows of out start on sectors; else by pieces of sectors.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr unsigned kTile = 64;
constexpr unsigned kThreads = 256, kWarps = kThreads / 32;

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
__global__ void __launch_bounds__(kThreads)
    several_kernel(const T* in,  // (rows, cols)
                   T* out,       // (cols, rows)
                   unsigned rows, unsigned cols, unsigned tiles_down, unsigned tiles_across) {
  __shared__ T tile[kTile][kTile + 1];
  // 32 bits, unsigned: an index past the last row of a matrix of 2^31 - 1 rows still fits, and 64-bit guards
  // would cost as much as the loads that they guard.
  const unsigned row0 = Order::tile_row(tiles_down, tiles_across) * kTile;
  const unsigned col0 = Order::tile_col(tiles_down, tiles_across) * kTile;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  // Both loops are unrolled, so that loads begin together: nvcc 13.0 makes lots of 4, 5 and 7 for sm_90.
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

template <class Order, class T>
void launch(const Transpose<T>& p, const char* variant, cudaStream_t stream) {
  require_problem(p, variant);
  const unsigned rows = static_cast<unsigned>(p.rows), cols = static_cast<unsigned>(p.cols);
  const unsigned tiles_down = days::ceil_div(rows, kTile), tiles_across = days::ceil_div(cols, kTile);
  const int64_t blocks = int64_t{tiles_down} * tiles_across;
  days::require(blocks <= days::kMaxGridX, variant,
                ": a grid has at most 2^31 - 1 blocks of 64 x 64 elements, not", blocks);
  several_kernel<Order><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.in, p.out, rows, cols,
                                                                                tiles_down, tiles_across);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void transpose_several(const Transpose<T>& p, cudaStream_t stream) {
  launch<Across>(p, "several", stream);
}
template <class T>
void transpose_down(const Transpose<T>& p, cudaStream_t stream) {
  launch<Down>(p, "down", stream);
}

INSTANTIATE_LAUNCHER(transpose_several, Transpose, float, days::half, uint8_t);
INSTANTIATE_LAUNCHER(transpose_down, Transpose, float, days::half, uint8_t);

}  // namespace day13
