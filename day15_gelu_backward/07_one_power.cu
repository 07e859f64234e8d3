// SPDX-License-Identifier: MIT
// P(x) by a formula that contains e^(-x^2 / 2), which the density needs anyway: one power for both.
// Changed since grad_vectors: for negative x, P(x) = t * polynomial(t) * e^(-x^2 / 2) with t = 1 / (1 + 0.3275911 |x| / sqrt(2)),
// which is off by 0.75e-7 at most (Abramowitz and Stegun, 7.1.26). No erff, and slope(x) = 1 - slope(-x) spares the other side.
// Bound by: memory, also in 16 bits.
// Teaches: ex2_approx_ftz, rcp_approx_ftz.
#include "common/elementwise.cuh"
#include "common/ptx.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

__device__ inline float slope_by_one_power(float x) {
  const float size = fabsf(x);
  const float t = days::ptx::rcp_approx_ftz(fmaf(0.3275911f * kHalfRoot, size, 1.0f));
  // Half of the book's coefficients: P is half of 1 + erf.
  float p = fmaf(0.5307027145f, t, -0.7265760135f);
  p = fmaf(p, t, 0.7107068705f);
  p = fmaf(p, t, -0.142248368f);
  p = fmaf(p, t, 0.127414796f);
  // P(-|x|) - |x| * density, of which e^(-x^2 / 2) = 2^(-x^2 / 2 * log2 e) is a factor. An infinity gives -inf * 0, NaN.
  const float power = days::ptx::ex2_approx_ftz(-0.72134752f * x * x);
  const float left = fmaf(p, t, -kDensity * size) * power;
  return x < 0 ? left : 1 - left;
}

template <class T>
__global__ void __launch_bounds__(kThreads) one_power_kernel(const T* x, const T* dy, T* dx,  // (n) each
                                                             int64_t n) {
  days::map_vector(x, dy, dx, n, [](float value, float d) { return d * slope_by_one_power(value); });
}

}  // namespace

template <class T>
void gelu_grad_one_power(const GeluBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "grad_one_power");
  one_power_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_grad_one_power, GeluBackward, float, days::half, days::bf16);

}  // namespace day15
