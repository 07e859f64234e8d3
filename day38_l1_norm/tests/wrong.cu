// SPDX-License-Identifier: MIT
//
// Kernels of day 38 with a bug each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"

namespace day38 {
namespace {

constexpr int kThreads = 128;

// A right forward, and a backward that makes dx of x and dnorm by a rule of its own.
template <class T, class Rule>
__device__ void step(const L1Norm<T>& p, Rule rule) {
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float x = days::to_float(p.x[start + col]);
    sum += fabsf(x);
    p.dx[start + col] = days::from_float<T>(rule(x, p.dnorm[blockIdx.x]));
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) p.norm[blockIdx.x] = sum;
}
template <class T, void (*kKernel)(L1Norm<T>)>
void launch(const L1Norm<T>& p, cudaStream_t stream) {
  kKernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// The sign bit alone: a zero has one, too.
__global__ void sign_bit(L1Norm<float> p) {
  step(p, [](float x, float dnorm) { return copysignf(1, x) * dnorm; });
}
constexpr auto by_sign_bit = launch<float, sign_bit>;
MUST_REJECT(l1_norm, by_sign_bit, "special rows: dx[0,0] is");

// Two answers for four cases: a NaN's gradient is a number.
__global__ void two_ways(L1Norm<days::bf16> p) {
  step(p, [](float x, float dnorm) { return x > 0 ? dnorm : x < 0 ? -dnorm : dnorm * 0; });
}
constexpr auto forgets_nan = launch<days::bf16, two_ways>;
MUST_REJECT(l1_norm, forgets_nan, "expected nan");

// A zero's gradient is 0, even of an infinite dnorm.
__global__ void constant_zero(L1Norm<float> p) {
  step(p, [](float x, float dnorm) { return x == 0 ? 0 : x != x ? x : x > 0 ? dnorm : -dnorm; });
}
constexpr auto zero_is_zero = launch<float, constant_zero>;
MUST_REJECT(l1_norm, zero_is_zero, "special gradients: dx[");

// A denormal is taken for 0, as -use_fast_math does.
__global__ void flushed(L1Norm<float> p) {
  step(p, [](float x, float dnorm) {
    const float kept = fabsf(x) < 0x1p-126f ? 0 : x;
    return dx_of(not_below(kept), not_above(kept), dnorm);
  });
}
constexpr auto flushes = launch<float, flushed>;
MUST_REJECT(l1_norm, flushes, "special rows: dx[2,0] is 0");

}  // namespace
}  // namespace day38
