// SPDX-License-Identifier: MIT
//
// The gradients in two kernels. dgamma and dbeta: one thread a column walks down all rows, so that a warp's load
// is contiguous and no thread waits for another. dx: one warp a row (grad_rows.cuh). Bound by: having only as many
// threads as columns in the first kernel, and reading x and dy three times in all.

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/grad_rows.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

constexpr int kThreads = 64;

template <class T>
__global__ void __launch_bounds__(kThreads) columns_kernel(const LayerNormBackward<T> p) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t row = 0; row < p.rows; ++row) {
    const float dy = days::to_float(p.dy[row * p.cols + col]);
    dgamma += dy * ((days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row]);
    dbeta += dy;
  }
  p.dgamma[col] = days::from_float<T>(dgamma);
  p.dbeta[col] = days::from_float<T>(dbeta);
}

}  // namespace

template <class T>
void layer_norm_grad_naive(const LayerNormBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_naive");
  // The columns go first, for dx may take the place of x or dy.
  columns_kernel<<<days::ceil_div(p.cols, kThreads), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  dx_kernel<<<days::ceil_div(p.rows, kDxRows), kDxThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_grad_naive, LayerNormBackward, float, days::half, days::bf16);

}  // namespace day12
