// SPDX-License-Identifier: MIT
//
// Every store begins at a multiple of 64 bytes, whatever the shape. Where the rows of out have other lengths,
// they start at odd places, and a tile's pieces of them begin and end within a sector; such a sector is
// written in two parts by two blocks, and L2 has to put it together.
// Changed since down: for each row of out the block moves its piece back to such a multiple. It reads up to
// 64 bytes' worth more rows of in for that (16 of fp32), which its neighbour has brought to L2 anyway; with
// 128 rows a tile that is an eighth. Bound by: the memory. Rows that straddle sectors when they are read
// still cost some percent.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr unsigned kRows = 128;  // of in, a tile
constexpr unsigned kCols = 64;
constexpr unsigned kThreads = 512;
constexpr unsigned kAlign = 64;  // bytes: two sectors, what DRAM reads or writes at once

template <class T>
__global__ void __launch_bounds__(kThreads)
    aligned_kernel(const T* in,  // (rows, cols)
                   T* out,       // (cols, rows)
                   unsigned rows, unsigned cols, unsigned tiles_down) {
  constexpr unsigned kWarps = kThreads / 32;
  constexpr unsigned kExtra =
      kAlign / sizeof(T);  // rows above the tile: a piece moves back by less than that
  __shared__ T tile[kExtra + kRows][kCols + 1];
  const unsigned row0 = blockIdx.x % tiles_down * kRows;
  const unsigned col0 = blockIdx.x / tiles_down * kCols;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  static_assert((kExtra + kRows) % kWarps == 0 && kRows % 32 == 0 && kCols % kWarps == 0);
#pragma unroll
  for (unsigned n = 0; n < (kExtra + kRows) / kWarps; ++n) {
    const unsigned i = n * kWarps + warp;
    const unsigned row = row0 + i - kExtra;  // a row above the matrix wraps around, far beyond its last
#pragma unroll
    for (unsigned m = 0; m < kCols / 32; ++m) {
      const unsigned j = m * 32 + lane, col = col0 + j;
      if (row < rows && col < cols) tile[i][j] = in[int64_t{row} * cols + col];
    }
  }
  __syncthreads();
#pragma unroll 2  // 32 registers a thread: a multiprocessor still holds 2,048 of them
  for (unsigned n = 0; n < kCols / kWarps; ++n) {
    const unsigned j = n * kWarps + warp, col = col0 + j;
    if (col >= cols) break;
    T* const out_row = out + int64_t{col} * rows;
    const unsigned back =
        static_cast<unsigned>(reinterpret_cast<uintptr_t>(out_row + row0) % kAlign / sizeof(T));
#pragma unroll
    for (unsigned m = 0; m < kRows / 32; ++m) {
      const unsigned i = kExtra + m * 32 + lane - back;
      const unsigned row = row0 + i - kExtra;
      if (row < rows) out_row[row] = tile[i][j];
    }
  }
}

}  // namespace

template <class T>
void transpose_aligned(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "aligned");
  const unsigned rows = static_cast<unsigned>(p.rows), cols = static_cast<unsigned>(p.cols);
  // The last piece of a row moves back too, so the tiles reach up to 64 bytes less one element further.
  const unsigned tiles_down = days::ceil_div(rows + (kAlign / unsigned{sizeof(T)} - 1), kRows);
  const int64_t blocks = int64_t{tiles_down} * days::ceil_div(cols, kCols);
  days::require(blocks <= days::kMaxGridX,
                "aligned: a grid has at most 2^31 - 1 blocks of 128 x 64 elements, not", blocks);
  aligned_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.in, p.out, rows, cols, tiles_down);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_aligned, Transpose, float, days::half, uint8_t);

}  // namespace day13
