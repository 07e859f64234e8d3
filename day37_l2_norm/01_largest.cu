// SPDX-License-Identifier: MIT
//
// Three loops over a row, a block each: its largest |x|; the squares of x * 2^-e, where 2^e is the largest's power
// of two; the quotients. No square overflows, and none that counts is lost. The scale costs a multiplication an
// element and no rounding. Bound by: three reads of the row, of which L1 or L2 serve two.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"

namespace day37 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) largest_kernel(const L2Normalize<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  T* y = p.y + int64_t{blockIdx.x} * p.cols;
  float largest = 0, sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    largest = days::Max{}(largest, fabsf(days::to_float(x[col])));  // a NaN stays
  largest = days::block_reduce(largest, days::Max{}, 0.0f);
  const float power = inverse_power(largest);
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float scaled = days::to_float(x[col]) * power;
    sum += scaled * scaled;
  }
  const Divisor divisor(power, days::block_reduce(sum, days::Sum{}, 0.0f), p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    y[col] = days::from_float<T>(divisor.quotient(days::to_float(x[col])));
  if (threadIdx.x == 0) p.norm[blockIdx.x] = divisor.norm;
}

}  // namespace

template <class T>
void l2_norm_largest(const L2Normalize<T>& p, cudaStream_t stream) {
  require_problem(p, "largest");
  largest_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l2_norm_largest, L2Normalize, float, days::half, days::bf16);

}  // namespace day37
