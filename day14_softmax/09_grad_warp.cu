// SPDX-License-Identifier: MIT
//
// The gradient, a warp a row. Changed since grad_naive: lanes side by side along the row, and a sum that
// five exchanges make. Bound by: reading y and dy twice.

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = kThreads / days::kWarpSize;  // a block

template <class T>
__global__ void __launch_bounds__(kThreads) grad_warp_kernel(const T* y,   // (rows, cols)
                                                             const T* dy,  // (rows, cols)
                                                             T* dx,        // (rows, cols)
                                                             int rows, int cols) {
  const int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / days::kWarpSize;
  const int lane = threadIdx.x % days::kWarpSize;
  if (row >= rows) return;  // the whole warp
  y += row * cols;
  dy += row * cols;
  dx += row * cols;
  float sum = 0;
  for (int col = lane; col < cols; col += days::kWarpSize)
    sum += days::to_float(y[col]) * days::to_float(dy[col]);
  sum = days::warp_reduce(sum, days::Sum{});
  for (int col = lane; col < cols; col += days::kWarpSize)
    dx[col] = days::from_float<T>(days::to_float(y[col]) * (days::to_float(dy[col]) - sum));
}

}  // namespace

template <class T>
void softmax_grad_warp(const SoftmaxBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_warp");
  grad_warp_kernel<<<days::ceil_div(p.rows, kRows), kThreads, 0, stream>>>(p.y, p.dy, p.dx, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_grad_warp, SoftmaxBackward, float, days::half, days::bf16);

}  // namespace day14
