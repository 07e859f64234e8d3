// SPDX-License-Identifier: MIT
//
// Shared memory's rows are one element longer than the tile. Changed since shared: that one element, which
// nobody uses. Elements of a column are now 33 elements apart instead of 32, and so in 32 different banks,
// whether an element has 4 bytes, 2 or 1.
// Bound by: bytes in flight. A thread has four loads on their way, a block 4 KiB.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;  // a thread moves 4 elements

template <class T>
__global__ void padded_kernel(const T* in,  // (rows, cols)
                              T* out,       // (cols, rows)
                              int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  {
    const int64_t col = int64_t{blockIdx.x} * kTile + threadIdx.x;
    const int64_t row = int64_t{blockIdx.y} * kTile + threadIdx.y;
    for (int i = 0; i < kTile; i += kBlockRows) {
      if (row + i < rows && col < cols) tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
    }
  }
  __syncthreads();  // the column that a warp takes out was put in by all of them
  // In out the tile's place is mirrored too: x of the grid runs along in's columns, which are out's rows.
  const int64_t col = int64_t{blockIdx.y} * kTile + threadIdx.x;
  const int64_t row = int64_t{blockIdx.x} * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kBlockRows) {
    if (row + i < cols && col < rows) out[(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
  }
}

}  // namespace

template <class T>
void transpose_padded(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "padded");
  days::require_needs(p, "padded", kRowsBy32);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.cols, kTile), days::ceil_div(p.rows, kTile));
  padded_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_padded, Transpose, float, days::half, uint8_t);

}  // namespace day13
