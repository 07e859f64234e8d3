// SPDX-License-Identifier: MIT
//
// Two stages: each block writes its sums to a place of its own, and a second kernel adds these up in a fixed order.
// Changed since grad_tiles: no atomic additions, nothing to set to 0 first, and the same bits on every run.
// Bound by: waits, as grad_tiles; the partial sums are a thousandth of what moves.

#include "common/reduce.cuh"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

template <class T>
__global__ void __launch_bounds__(kTileCols) partials_kernel(const DytBackward<T> p,
                                                             float* lines,     // (parts, 2, cols)
                                                             float* alphas) {  // (parts, blocks of columns)
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
    lines[2 * part * p.cols + col] = dgamma;
    lines[(2 * part + 1) * p.cols + col] = dbeta;
  }
  dalpha = days::block_reduce(dalpha, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) alphas[part * gridDim.x + blockIdx.x] = dalpha;
}

template <class T>
__global__ void __launch_bounds__(kTileCols)
    sum_kernel(const DytBackward<T> p, const float* lines, const float* alphas, int parts) {
  const int64_t col = int64_t{blockIdx.x} * kTileCols + threadIdx.x;
  if (col < p.cols) {
    float dgamma = 0, dbeta = 0;
    for (int64_t part = 0; part < parts; ++part) {
      dgamma += lines[2 * part * p.cols + col];
      dbeta += lines[(2 * part + 1) * p.cols + col];
    }
    p.dgamma[col] = days::from_float<T>(dgamma);
    p.dbeta[col] = days::from_float<T>(dbeta);
  }
  if (blockIdx.x > 0) return;
  float dalpha = 0;
  for (int64_t i = threadIdx.x; i < int64_t{parts} * gridDim.x; i += kTileCols) dalpha += alphas[i];
  dalpha = days::block_reduce(dalpha, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *p.dalpha = dalpha;
}

}  // namespace

template <class T>
void dyt_grad_partials(const DytBackward<T>& p, cudaStream_t stream) {
  float* lines = require_problem(p, partials_workspace(p.rows, p.cols), "grad_partials");
  const int parts = parts_of(p.rows);
  float* alphas = lines + int64_t{2} * parts * p.cols;
  const unsigned blocks = days::ceil_div(p.cols, kTileCols);
  partials_kernel<<<dim3(blocks, parts), kTileCols, 0, stream>>>(p, lines, alphas);
  CUDA_CHECK_LAUNCH();
  sum_kernel<<<blocks, kTileCols, 0, stream>>>(p, lines, alphas, parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dyt_grad_partials, DytBackward, float, days::half, days::bf16);

}  // namespace day36
