// SPDX-License-Identifier: MIT
//
// Blue's three sums: each |x| is big, small or neither, and its square goes to the sum of its kind, by a scale that
// is known before the row is. Changed since largest: two reads of the row instead of three, and no barrier between
// them but the sums'. Bound by: instructions and the second read; a row of any length.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"
#include "day37_l2_norm/three_sums.cuh"

namespace day37 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) three_kernel(const L2Normalize<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  T* y = p.y + int64_t{blockIdx.x} * p.cols;
  float big = 0, middle = 0, small = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    // A choice of scales, not a branch: loads go ahead of it. A NaN is neither big nor small.
    const float value = days::to_float(x[col]), size = fabsf(value);
    const bool is_big = size > kBig, is_small = size < kSmall;
    const float scaled = value * (is_big ? kScaleDown : is_small ? kScaleUp : 1);
    const float square = scaled * scaled;
    big += is_big ? square : 0;
    small += is_small ? square : 0;
    middle += is_big || is_small ? 0 : square;
  }
  big = days::block_reduce(big, days::Sum{}, 0.0f);
  middle = days::block_reduce(middle, days::Sum{}, 0.0f);
  small = days::block_reduce(small, days::Sum{}, 0.0f);
  const ScaledSum row = merge(big, middle, small);
  const Divisor divisor(row.power, row.sum, p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    y[col] = days::from_float<T>(divisor.quotient(days::to_float(x[col])));
  if (threadIdx.x == 0) p.norm[blockIdx.x] = divisor.norm;
}

}  // namespace

template <class T>
void l2_norm_three(const L2Normalize<T>& p, cudaStream_t stream) {
  require_problem(p, "three");
  three_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l2_norm_three, L2Normalize, float, days::half, days::bf16);

}  // namespace day37
