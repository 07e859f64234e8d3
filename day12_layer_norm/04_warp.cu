// SPDX-License-Identifier: MIT
//
// One warp a row: its lanes merge their parts through registers, lane i with lane i + 16, + 8, ... + 1, until
// lane 0 has the row. Changed since welford: no shared memory, no barrier, and a row of some hundred elements no
// longer leaves most of a block idle. Bound by: a load at a time, as in welford, and in long rows a second read that
// no longer comes from L1, because a multiprocessor has 64 rows at once.
// Teaches: __shfl_down_sync.

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/moments.cuh"

namespace day12 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = kThreads / days::kWarpSize;  // a block

template <class T>
__global__ void __launch_bounds__(kThreads) warp_kernel(const LayerNorm<T> p) {
  const int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / days::kWarpSize;
  const int lane = threadIdx.x % days::kWarpSize;
  if (row >= p.rows) return;  // the whole warp
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;

  Moments mine;
  for (int col = lane; col < p.cols; col += days::kWarpSize) mine.add(days::to_float(x[col]));
  for (int distance = days::kWarpSize / 2; distance > 0; distance /= 2) {
    mine.add(Moments{__shfl_down_sync(days::kFullWarp, mine.n, distance),
                     __shfl_down_sync(days::kFullWarp, mine.mean, distance),
                     __shfl_down_sync(days::kFullWarp, mine.m2, distance)});
  }
  // What the other lanes have merged is of no use: all take lane 0's.
  Statistics s = statistics(mine, p.eps);
  s.mean = __shfl_sync(days::kFullWarp, s.mean, 0);
  s.rstd = __shfl_sync(days::kFullWarp, s.rstd, 0);

  for (int col = lane; col < p.cols; col += days::kWarpSize)
    y[col] = days::from_float<T>(
        normalised(days::to_float(x[col]), s, days::to_float(p.gamma[col]), days::to_float(p.beta[col])));
  if (lane == 0) {
    p.mean[row] = s.mean;
    p.rstd[row] = s.rstd;
  }
}

}  // namespace

template <class T>
void layer_norm_warp(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "warp");
  warp_kernel<<<days::ceil_div(p.rows, kRows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_warp, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
