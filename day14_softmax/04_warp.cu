// SPDX-License-Identifier: MIT
//
// One warp a row: its lanes exchange registers, and nobody waits for another warp. Changed since online: no
// shared memory, no barrier, and rows of some hundred elements no longer leave most of a block idle.
// Bound by: the second read, and long rows by having too few warps for them.
// Teaches: __shfl_xor_sync.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/partial.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = kThreads / days::kWarpSize;  // a block

template <class T>
__global__ void __launch_bounds__(kThreads) warp_kernel(const T* x,  // (rows, cols)
                                                        T* y,        // (rows, cols)
                                                        int rows, int cols) {
  const int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / days::kWarpSize;
  const int lane = threadIdx.x % days::kWarpSize;
  if (row >= rows) return;  // the whole warp
  x += row * cols;
  y += row * cols;
  Partial mine;
  for (int col = lane; col < cols; col += days::kWarpSize) mine.add(days::to_float(x[col]));
  // Five exchanges with lane ^ 16, ^ 8, ... and all lanes know the row's maximum, then its sum.
  Partial all = mine;
#pragma unroll
  for (int distance = days::kWarpSize / 2; distance > 0; distance /= 2)
    all.max = days::Max{}(all.max, __shfl_xor_sync(days::kFullWarp, all.max, distance));
  all.sum *= expf(mine.max - all.max);
#pragma unroll
  for (int distance = days::kWarpSize / 2; distance > 0; distance /= 2)
    all.sum += __shfl_xor_sync(days::kFullWarp, all.sum, distance);
  for (int col = lane; col < cols; col += days::kWarpSize)
    y[col] = days::from_float<T>(expf(days::to_float(x[col]) - all.max) / all.sum);
}

}  // namespace

template <class T>
void softmax_warp(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "warp");
  warp_kernel<<<days::ceil_div(p.rows, kRows), kThreads, 0, stream>>>(p.x, p.y, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_warp, Softmax, float, days::half, days::bf16);

}  // namespace day14
