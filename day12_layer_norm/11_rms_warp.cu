// SPDX-License-Identifier: MIT
//
// RMS norm with a warp a row, in two loops: the sum of the squares, then y. Squares have one sign, so nothing cancels and one plain sum will
// do, without Welford's division. Takes every shape. Bound by: rows of which a multiprocessor's caches hold too few until the second loop.

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day12_layer_norm/rms.cuh"
#include "day12_layer_norm/rms_norm.h"

namespace day12 {
namespace {

constexpr int kThreads = 256, kRows = kThreads / days::kWarpSize;  // of a block

template <class T>
__global__ void __launch_bounds__(kThreads) rms_warp_kernel(const RmsNorm<T> p) {
  const int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / days::kWarpSize;
  const int lane = threadIdx.x % days::kWarpSize;
  if (row >= p.rows) return;  // the whole warp
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  float squares = 0;
  for (int col = lane; col < p.cols; col += days::kWarpSize) {
    const float value = days::to_float(x[col]);
    squares += value * value;
  }
  const float rstd = rms_rstd(days::warp_reduce(squares, days::Sum{}), p.cols, p.eps);
  for (int col = lane; col < p.cols; col += days::kWarpSize)
    y[col] = days::from_float<T>(rms_scaled<T>(days::to_float(x[col]), rstd, days::to_float(p.gamma[col])));
  if (lane == 0 && p.rstd != nullptr) p.rstd[row] = rstd;
}

}  // namespace

template <class T>
void rms_norm_warp(const RmsNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "rms_warp");
  rms_warp_kernel<<<days::ceil_div(p.rows, kRows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rms_norm_warp, RmsNorm, float, days::half, days::bf16);

}  // namespace day12
