// SPDX-License-Identifier: MIT
// dx with a warp a row, in two loops: what naive and partials have in common. The kernel has nothing to do with
// the sums over rows, which are what these two rungs differ in.
#pragma once

#include "common/reduce.cuh"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {

inline constexpr int kDxThreads = 256, kDxRows = kDxThreads / days::kWarpSize;  // of a block

template <class T>
__global__ void __launch_bounds__(kDxThreads) dx_kernel(const LayerNormBackward<T> p) {
  const int64_t row = int64_t{blockIdx.x} * kDxRows + threadIdx.x / days::kWarpSize;
  const int lane = threadIdx.x % days::kWarpSize;
  if (row >= p.rows) return;  // the whole warp
  const T *x = p.x + row * p.cols, *dy = p.dy + row * p.cols;
  T* dx = p.dx + row * p.cols;
  const float mean = p.mean[row], rstd = p.rstd[row];
  float sum_g = 0, sum_gx = 0;
  for (int col = lane; col < p.cols; col += days::kWarpSize) {
    const float g = days::to_float(dy[col]) * days::to_float(p.gamma[col]);
    sum_g += g;
    sum_gx += g * ((days::to_float(x[col]) - mean) * rstd);
  }
  const float average_g = days::warp_reduce(sum_g, days::Sum{}) / static_cast<float>(p.cols);
  const float average_gx = days::warp_reduce(sum_gx, days::Sum{}) / static_cast<float>(p.cols);
  for (int col = lane; col < p.cols; col += days::kWarpSize) {
    const float g = days::to_float(dy[col]) * days::to_float(p.gamma[col]);
    const float xhat = (days::to_float(x[col]) - mean) * rstd;
    dx[col] = days::from_float<T>(rstd * (g - average_g - xhat * average_gx));
  }
}

}  // namespace day12
