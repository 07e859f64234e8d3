// SPDX-License-Identifier: MIT
//
// One block a row: its threads stand side by side along the row, and a tree in shared memory adds up what they
// found. Changed since naive: a warp's loads touch the least sectors that hold them, and 256 threads share a
// row. Bound by: three reads of the row, one a loop, and 20 barriers between them.

#include "common/check.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/moments.cuh"

namespace day12 {
namespace {

constexpr int kThreads = 256;

// The sum of the block's values, in every thread: half of the threads add the other half's, then a quarter the
// next quarter's, and so on.
__device__ float block_sum(float value) {
  __shared__ float tree[kThreads];
  tree[threadIdx.x] = value;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  __syncthreads();
  const float sum = tree[0];
  __syncthreads();  // a second call may overwrite the tree only when every thread has read it
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) shared_kernel(const LayerNorm<T> p) {
  const int64_t row = blockIdx.x;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  Moments of_row = {static_cast<float>(p.cols), 0, 0};
  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) sum += days::to_float(x[col]);
  of_row.mean = block_sum(sum) / of_row.n;
  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float distance = days::to_float(x[col]) - of_row.mean;
    squares += distance * distance;
  }
  of_row.m2 = block_sum(squares);
  const Statistics s = statistics(of_row, p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    y[col] = days::from_float<T>(
        normalised(days::to_float(x[col]), s, days::to_float(p.gamma[col]), days::to_float(p.beta[col])));
  if (threadIdx.x == 0) {
    p.mean[row] = s.mean;
    p.rstd[row] = s.rstd;
  }
}

}  // namespace

template <class T>
void layer_norm_shared(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "shared");
  shared_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_shared, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
