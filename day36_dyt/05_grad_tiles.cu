// SPDX-License-Identifier: MIT
//
// A block has 128 columns of a part of the rows, a thread a column: it walks down the part with its sums in registers, and
// adds them up atomically once, at the end.
// Changed since grad_atomic: of 1,024 rows a part, one atomic addition a column and sum for 1,024. Alpha's sum goes through
// the block first. Bound by: waits, as predicted: a row is loaded when the last dx, which may lie in dy, is stored. The order
// of additions, and with it the last digits, differ from run to run.

#include "common/reduce.cuh"
#include "day36_dyt/dyt.h"
#include "day36_dyt/finish.cuh"

namespace day36 {
namespace {

template <class T>
__global__ void __launch_bounds__(kTileCols)
    tiles_kernel(const DytBackward<T> p,
                 float* sums) {  // dgamma (cols), dbeta (cols), dalpha
  const int64_t col = int64_t{blockIdx.x} * kTileCols + threadIdx.x;
  const int64_t part = blockIdx.y, parts = gridDim.y;
  const float alpha = *p.alpha;
  float dgamma = 0, dbeta = 0, dalpha = 0;
  if (col < p.cols) {
    const float gamma = days::to_float(p.gamma[col]);
#pragma unroll 4
    for (int64_t row = p.rows * part / parts; row < p.rows * (part + 1) / parts; ++row) {
      const int64_t i = row * p.cols + col;
      const float x = days::to_float(p.x[i]), dy = days::to_float(p.dy[i]);
      const float t = tanhf(alpha * x), bent = dy * gamma * fmaf(-t, t, 1.0f);
      p.dx[i] = days::from_float<T>(bent * alpha);
      dgamma += dy * t;
      dbeta += dy;
      dalpha += bent * x;
    }
    atomicAdd(&sums[col], dgamma);
    atomicAdd(&sums[p.cols + col], dbeta);
  }
  dalpha = days::block_reduce(dalpha, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) atomicAdd(&sums[int64_t{2} * p.cols], dalpha);
}

}  // namespace

template <class T>
void dyt_grad_tiles(const DytBackward<T>& p, cudaStream_t stream) {
  const size_t bytes = sums_workspace(p.cols);
  float* sums = require_problem(p, bytes, "grad_tiles");
  CUDA_CHECK(cudaMemsetAsync(sums, 0, bytes, stream));
  const dim3 grid(days::ceil_div(p.cols, kTileCols), parts_of(p.rows));
  tiles_kernel<<<grid, kTileCols, 0, stream>>>(p, sums);
  CUDA_CHECK_LAUNCH();
  finish(p, sums, stream);
}

INSTANTIATE_LAUNCHER(dyt_grad_tiles, DytBackward, float, days::half, days::bf16);

}  // namespace day36
