// SPDX-License-Identifier: MIT
//
// One thread an element. Neighbouring lanes read neighbours, and write to addresses a whole row of out apart:
// 4 sectors of 32 bytes for a warp's load, 32 for its store.
// Bound by: the stores' sectors, seven eighths of which is not what the warp has to write.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void naive_kernel(const T* in,  // (rows, cols)
                             T* out,       // (cols, rows)
                             int rows, int cols) {
  const int64_t col = int64_t{blockIdx.x} * kBlockX + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * kBlockY + threadIdx.y;
  if (row < rows && col < cols) {
    out[col * rows + row] = in[row * cols + col];
  }
}

}  // namespace

template <class T>
void transpose_naive(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "naive");
  days::require_needs(p, "naive", kRowsBy8);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.cols, kBlockX), days::ceil_div(p.rows, kBlockY));
  naive_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_naive, Transpose, float, days::half, uint8_t);

}  // namespace day13
