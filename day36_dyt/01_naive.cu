// SPDX-License-Identifier: MIT
//
// One thread, one element. Its column is the remainder of a 64-bit division, and gamma and beta of that column are read for it.
// Bound by: each thread's wait for one element, and 76 instructions beside it. The division takes more of them than tanh.

#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) naive_kernel(const Dyt<T> p) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= int64_t{p.rows} * p.cols) return;
  const int col = static_cast<int>(i % p.cols);
  const float t = tanhf(*p.alpha * days::to_float(p.x[i]));
  p.y[i] = days::from_float<T>(fmaf(days::to_float(p.gamma[col]), t, days::to_float(p.beta[col])));
}

}  // namespace

template <class T>
void dyt_naive(const Dyt<T>& p, cudaStream_t stream) {
  require_problem(p, "naive");
  naive_kernel<<<days::grid_of(int64_t{p.rows} * p.cols, kThreads, "naive"), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dyt_naive, Dyt, float, days::half, days::bf16);

}  // namespace day36
