// SPDX-License-Identifier: MIT
//
// One thread a row, three loops over it: the mean, the variance about that mean, the result. As a CPU would do
// it. Neighbouring lanes are a row apart, so none of a warp's 32 addresses shares a sector with another.
// Bound by: sectors, 32 for a warp's every load and store.

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/moments.cuh"

namespace day12 {
namespace {

constexpr int kThreads = 64;

template <class T>
__global__ void naive_kernel(const LayerNorm<T> p) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= p.rows) return;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  Moments of_row = {static_cast<float>(p.cols), 0, 0};
  for (int col = 0; col < p.cols; ++col) of_row.mean += days::to_float(x[col]);
  of_row.mean /= of_row.n;
  for (int col = 0; col < p.cols; ++col) {
    const float distance = days::to_float(x[col]) - of_row.mean;
    of_row.m2 += distance * distance;
  }
  const Statistics s = statistics(of_row, p.eps);
  for (int col = 0; col < p.cols; ++col)
    y[col] = days::from_float<T>(
        normalised(days::to_float(x[col]), s, days::to_float(p.gamma[col]), days::to_float(p.beta[col])));
  p.mean[row] = s.mean;
  p.rstd[row] = s.rstd;
}

}  // namespace

template <class T>
void layer_norm_naive(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "naive");
  naive_kernel<<<days::ceil_div(p.rows, kThreads), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_naive, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
