// SPDX-License-Identifier: MIT
//
// Exercise: the norm of every row of floats, in at most two reads of the row, by three sums of squares.
// Gates: every element right for every shape; no race; at most 2.1 bytes read for each byte of input.
//   ./days check 37      tells how far you are        ./days hint 37      when you are stuck
#include "common/check.h"
#include "common/reduce.cuh"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"
#include "day37_l2_norm/three_sums.cuh"

namespace day37 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const L2Normalize<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  T* y = p.y + int64_t{blockIdx.x} * p.cols;
  float big = 0, middle = 0, small = 0;
  // 1. The square of each of the row's elements goes to one of the sums: of |x| > kBig, of |x| < kSmall, of all others.
  // 2. A big x is multiplied by kScaleDown before it is squared, a small one by kScaleUp.
  // 3. Each of the sums is this thread's. It is to be the block's.
  // your code
  const ScaledSum row = merge(big, middle, small);
  const Divisor divisor(row.power, row.sum, p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    y[col] = days::from_float<T>(divisor.quotient(days::to_float(x[col])));
  if (threadIdx.x == 0) p.norm[blockIdx.x] = divisor.norm;
}

}  // namespace

template <class T>
void exercise(const L2Normalize<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  exercise_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, L2Normalize, float, days::half, days::bf16);

}  // namespace day37
