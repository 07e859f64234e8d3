// SPDX-License-Identifier: MIT
//
// The gradient, one thread a row: a loop for the sum of y * dy, and one for the products. As in naive,
// neighbouring lanes are a row apart. Bound by: sectors, 32 for a warp's every load and store.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 64;

template <class T>
__global__ void grad_naive_kernel(const T* y,   // (rows, cols)
                                  const T* dy,  // (rows, cols)
                                  T* dx,        // (rows, cols)
                                  int rows, int cols) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  y += row * cols;
  dy += row * cols;
  dx += row * cols;
  float sum = 0;
  for (int col = 0; col < cols; ++col) sum += days::to_float(y[col]) * days::to_float(dy[col]);
  for (int col = 0; col < cols; ++col)
    dx[col] = days::from_float<T>(days::to_float(y[col]) * (days::to_float(dy[col]) - sum));
}

}  // namespace

template <class T>
void softmax_grad_naive(const SoftmaxBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_naive");
  grad_naive_kernel<<<days::ceil_div(p.rows, kThreads), kThreads, 0, stream>>>(p.y, p.dy, p.dx, p.rows,
                                                                               p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_grad_naive, SoftmaxBackward, float, days::half, days::bf16);

}  // namespace day14
