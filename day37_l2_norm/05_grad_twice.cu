// SPDX-License-Identifier: MIT
//
// A block a row, two loops: how far dy points along y, then dx. What points along y would change the length, which
// the norm takes away again: it is no part of the gradient. Bound by: the second read of both rows.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day37_l2_norm/clamp.cuh"
#include "day37_l2_norm/l2_norm.h"

namespace day37 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) grad_twice_kernel(const L2NormalizeBackward<T> p) {
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  const T *y = p.y + start, *dy = p.dy + start;
  float along = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    along += days::to_float(y[col]) * days::to_float(dy[col]);
  along = days::block_reduce(along, days::Sum{}, 0.0f);
  const Slope slope(p.norm[blockIdx.x], p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    p.dx[start + col] = days::from_float<T>(slope.dx(days::to_float(y[col]), days::to_float(dy[col]), along));
}

}  // namespace

template <class T>
void l2_norm_grad_twice(const L2NormalizeBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_twice");
  grad_twice_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l2_norm_grad_twice, L2NormalizeBackward, float, days::half, days::bf16);

}  // namespace day37
