// SPDX-License-Identifier: MIT
//
// The rows are cut into 128 parts; a thread walks down one column of one part and leaves a partial sum in the
// workspace, which a second small kernel adds up (sum_partials.cuh). Changed since grad_naive: 128 times as many
// threads, and the same result on every run, without atomics. Bound by: reading x and dy three times, twice for dx
// and once for the sums.

#include "common/check.h"
#include "common/sum_partials.cuh"
#include "common/util.h"
#include "day12_layer_norm/grad_rows.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

constexpr int kThreads = 128, kMaxParts = 128;

int parts_of(int rows) {
  return rows < kMaxParts ? rows : kMaxParts;
}

template <class T>
__global__ void __launch_bounds__(kThreads) partials_kernel(const LayerNormBackward<T> p,
                                                            float* partials) {  // (parts, 2, cols)
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  const int64_t part = blockIdx.y, parts = gridDim.y;
  float dgamma = 0, dbeta = 0;
  for (int64_t row = p.rows * part / parts; row < p.rows * (part + 1) / parts; ++row) {
    const float dy = days::to_float(p.dy[row * p.cols + col]);
    dgamma += dy * ((days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row]);
    dbeta += dy;
  }
  partials[2 * part * p.cols + col] = dgamma;
  partials[(2 * part + 1) * p.cols + col] = dbeta;
}

}  // namespace

size_t grad_partials_workspace(int rows, int cols) {
  return size_t{2} * sizeof(float) * static_cast<size_t>(parts_of(rows)) * static_cast<size_t>(cols);
}

template <class T>
void layer_norm_grad_partials(const LayerNormBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_partials");
  const size_t needed = grad_partials_workspace(p.rows, p.cols);
  days::require(p.workspace.bytes >= needed, "grad_partials: needs a workspace of bytes:", needed);
  float* partials = static_cast<float*>(p.workspace.data);
  const int parts = parts_of(p.rows);
  // The columns go first, for dx may take the place of x or dy.
  const dim3 grid(days::ceil_div(p.cols, kThreads), static_cast<unsigned>(parts));
  partials_kernel<<<grid, kThreads, 0, stream>>>(p, partials);
  CUDA_CHECK_LAUNCH();
  days::sum_partials(partials, p.dgamma, p.dbeta, parts, p.cols, stream);
  dx_kernel<<<days::ceil_div(p.rows, kDxRows), kDxThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_grad_partials, LayerNormBackward, float, days::half, days::bf16);

}  // namespace day12
