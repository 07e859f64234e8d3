// SPDX-License-Identifier: MIT
//
// A block reads a tile of 32 x 32 by rows into shared memory and takes it out by columns.
// Changed since naive: both the load and the store now run along a row, 4 sectors each; it is shared memory
// that is read a row apart. There a row is 128 bytes, so all 32 lanes want the same bank.
// Bound by: those bank conflicts, 31 further passes a load.
// Teaches: __shared__, __syncthreads.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;  // a thread moves 4 elements

template <class T>
__global__ void shared_kernel(const T* in,  // (rows, cols)
                              T* out,       // (cols, rows)
                              int rows, int cols) {
  __shared__ T tile[kTile][kTile];
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
void transpose_shared(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "shared");
  days::require_needs(p, "shared", kRowsBy32);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.cols, kTile), days::ceil_div(p.rows, kTile));
  shared_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_shared, Transpose, float, days::half, uint8_t);

}  // namespace day13
