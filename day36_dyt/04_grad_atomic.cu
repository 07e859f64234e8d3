// SPDX-License-Identifier: MIT
//
// All four gradients, one thread an element: dx is written, and what belongs to a column or to all is added atomically.
// Bound by: atomic additions, three an element. 65,536 rows add to each column's sums, and all elements to dalpha's.

#include "day36_dyt/dyt.h"
#include "day36_dyt/finish.cuh"

namespace day36 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    atomic_kernel(const DytBackward<T> p,
                  float* sums) {  // dgamma (cols), dbeta (cols), dalpha
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= int64_t{p.rows} * p.cols) return;
  const int col = static_cast<int>(i % p.cols);
  const float alpha = *p.alpha, x = days::to_float(p.x[i]), dy = days::to_float(p.dy[i]);
  const float t = tanhf(alpha * x), bent = dy * days::to_float(p.gamma[col]) * fmaf(-t, t, 1.0f);
  p.dx[i] = days::from_float<T>(bent * alpha);
  atomicAdd(&sums[col], dy * t);
  atomicAdd(&sums[p.cols + col], dy);
  atomicAdd(&sums[int64_t{2} * p.cols], bent * x);
}

}  // namespace

template <class T>
void dyt_grad_atomic(const DytBackward<T>& p, cudaStream_t stream) {
  const size_t bytes = sums_workspace(p.cols);
  float* sums = require_problem(p, bytes, "grad_atomic");
  const unsigned blocks = days::grid_of(int64_t{p.rows} * p.cols, kThreads, "grad_atomic");
  CUDA_CHECK(cudaMemsetAsync(sums, 0, bytes, stream));
  atomic_kernel<<<blocks, kThreads, 0, stream>>>(p, sums);
  CUDA_CHECK_LAUNCH();
  finish(p, sums, stream);
}

INSTANTIATE_LAUNCHER(dyt_grad_atomic, DytBackward, float, days::half, days::bf16);

}  // namespace day36
