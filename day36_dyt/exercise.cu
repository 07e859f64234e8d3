// SPDX-License-Identifier: MIT
//
// Exercise: DyT's four gradients in two launches and without an atomic addition.
// Gates: all four right for every shape and the hostile values; no race; no atomics on global memory; at most two launches;
// at most 1.6 bytes loaded for each byte of input, and 10% of moved bytes that nobody asked for.
//   ./days check 36      tells how far you are        ./days hint 36      when you are stuck
#include "common/reduce.cuh"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

// Launched twice, with blocks of kTileCols threads, a thread a column.
//   kStage 1: block (b, part) has kTileCols columns of the part's rows; gridDim.y is the number of parts.
//   kStage 2: block b has the same columns; `parts` is the number of parts.
template <int kStage, class T>
__global__ void __launch_bounds__(kTileCols) exercise_kernel(const DytBackward<T> p,
                                                             float* lines,   // (parts, 2, cols)
                                                             float* alphas,  // (parts, blocks of columns)
                                                             int parts) {
  [[maybe_unused]] const int64_t col = int64_t{blockIdx.x} * kTileCols + threadIdx.x;
  // 1. Stage 1: walk down the rows [rows * part / parts, rows * (part + 1) / parts) of this column. Of each element write
  //    dx, and add to three sums in registers: dy * t, dy, and dy * gamma * (1 - t * t) * x, where t = tanhf(alpha * x).
  // 2. Write the first two to lines[2 * part * cols + col] and lines[(2 * part + 1) * cols + col].
  // 3. The third belongs to no column: days::block_reduce(sum, days::Sum{}, 0.0f) adds it up over the block, and thread 0
  //    writes alphas[part * gridDim.x + blockIdx.x]. All threads of the block must call it.
  // 4. Stage 2: add up the column's lines, part after part: dgamma and dbeta. Block 0 adds up all alphas: dalpha.
  // your code
}

}  // namespace

template <class T>
void exercise(const DytBackward<T>& p, cudaStream_t stream) {
  float* lines = require_problem(p, partials_workspace(p.rows, p.cols), "exercise");
  const int parts = parts_of(p.rows);
  float* alphas = lines + int64_t{2} * parts * p.cols;
  const unsigned blocks = days::ceil_div(p.cols, kTileCols);
  exercise_kernel<1, T><<<dim3(blocks, parts), kTileCols, 0, stream>>>(p, lines, alphas, parts);
  CUDA_CHECK_LAUNCH();
  exercise_kernel<2, T><<<blocks, kTileCols, 0, stream>>>(p, lines, alphas, parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, DytBackward, float, days::half, days::bf16);

}  // namespace day36
