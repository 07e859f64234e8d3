// SPDX-License-Identifier: MIT
// Forward with strips, for any tanh: what the rungs columns and one_power have in common.
#pragma once

#include <algorithm>

#include "day36_dyt/dyt.h"
#include "day36_dyt/strip.cuh"

namespace day36 {

inline constexpr int kRowsAThread = 8;

// The rows of a block: kRowsAThread steps of as many rows as it has groups of lanes.
inline int forward_blocks_y(int rows, int lanes) {
  return static_cast<int>(
      std::min<int64_t>(days::ceil_div(rows, kStripThreads / lanes * kRowsAThread), days::kMaxGridY));
}

// A thread's strip: gamma and beta once, then row after row. tanh(float) -> float.
template <bool kWide, class T, class Tanh>
__device__ inline void forward_strip(const Dyt<T>& p, int lanes, Tanh tanh) {
  constexpr int kCols = kWidth<T, kWide>;
  const int groups = kStripThreads / lanes;
  const int64_t col = (int64_t{blockIdx.x} * lanes + threadIdx.x % lanes) * kCols;
  if (col >= p.cols) return;
  const auto gamma = load<kWide>(p.gamma + col), beta = load<kWide>(p.beta + col);
  const float alpha = *p.alpha;
  for (int64_t row = int64_t{blockIdx.y} * groups + threadIdx.x / lanes; row < p.rows;
       row += int64_t{gridDim.y} * groups) {
    auto v = load<kWide>(p.x + row * p.cols + col);
#pragma unroll
    for (int i = 0; i < kCols; ++i) {
      const float t = tanh(alpha * days::to_float(v[i]));
      v[i] = days::from_float<T>(fmaf(days::to_float(gamma[i]), t, days::to_float(beta[i])));
    }
    store<kWide>(p.y + row * p.cols + col, v);
  }
}

}  // namespace day36
