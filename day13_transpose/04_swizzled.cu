// SPDX-License-Identifier: MIT
//
// The other way out of the conflicts: each row of the tile is stored in an order of its own. Changed since
// padded: element (row, col) lies at column col ^ row, and no memory is left unused. A row's 32 places are
// still its 32 columns, only permuted; and a column's 32 elements now lie at 32 different places.
// Bound by: what bounds padded. The copy engine of the rung bulk knows this permutation, and no padding.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;  // a thread moves 4 elements

template <class T>
__global__ void swizzled_kernel(const T* in,  // (rows, cols)
                                T* out,       // (cols, rows)
                                int rows, int cols) {
  __shared__ T tile[kTile][kTile];
  {
    const int64_t col = int64_t{blockIdx.x} * kTile + threadIdx.x;
    const int64_t row = int64_t{blockIdx.y} * kTile + threadIdx.y;
    for (int i = 0; i < kTile; i += kBlockRows) {
      const int tile_row = threadIdx.y + i;
      if (row + i < rows && col < cols) tile[tile_row][threadIdx.x ^ tile_row] = in[(row + i) * cols + col];
    }
  }
  __syncthreads();  // the column that a warp takes out was put in by all of them
  // In out the tile's place is mirrored too: x of the grid runs along in's columns, which are out's rows.
  const int64_t col = int64_t{blockIdx.y} * kTile + threadIdx.x;
  const int64_t row = int64_t{blockIdx.x} * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kBlockRows) {
    const int tile_col = threadIdx.y + i;
    if (row + i < cols && col < rows) out[(row + i) * rows + col] = tile[threadIdx.x][tile_col ^ threadIdx.x];
  }
}

}  // namespace

template <class T>
void transpose_swizzled(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "swizzled");
  days::require_needs(p, "swizzled", kRowsBy32);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.cols, kTile), days::ceil_div(p.rows, kTile));
  swizzled_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_swizzled, Transpose, float, days::half, uint8_t);

}  // namespace day13
