// SPDX-License-Identifier: MIT
//
// One warp a row: its lanes exchange registers, and nobody waits for another warp. Changed since online: no
// shared memory, no barrier, and rows of some hundred elements no longer leave most of a block idle.
// Bound by: the second read, and long rows by having too few warps for them.

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
  const Partial all = warp_merge(mine);
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

SOFTMAX_INSTANTIATE(softmax_warp, Softmax);

}  // namespace day14
