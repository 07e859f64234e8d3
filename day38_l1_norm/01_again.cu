// SPDX-License-Identifier: MIT
//
// Backward reads x again: nothing is kept but x itself. A block a row, 256 threads side by side; |x| costs nothing, as
// an addition takes it for an operand. Bound by: memory, x twice and dx once.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"

namespace day38 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) again_forward_kernel(const L1Norm<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) sum += fabsf(days::to_float(x[col]));
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) p.norm[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) again_backward_kernel(const L1Norm<T> p) {
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  const float dnorm = p.dnorm[blockIdx.x];
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float x = days::to_float(p.x[start + col]);
    p.dx[start + col] = days::from_float<T>(dx_of(not_below(x), not_above(x), dnorm));
  }
}

}  // namespace

template <class T>
void l1_norm_again(const L1Norm<T>& p, cudaStream_t stream) {
  require_problem(p, "again", 0);
  again_forward_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  again_backward_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l1_norm_again, L1Norm, float, days::half, days::bf16);

}  // namespace day38
