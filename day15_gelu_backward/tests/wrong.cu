// SPDX-License-Identifier: MIT
//
// Gradients of GELU with a bug in each, which day 15's tests must reject.

#include "common/must_reject.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

__device__ float below_of(float x) {
  return 0.5f * (1 + erff(kHalfRoot * x));
}
__device__ float density_of(float x) {
  return kDensity * expf(-0.5f * x * x);
}

template <class T, class F>
__global__ void backward_of(const T* x, const T* dy, T* dx, int64_t n, F slope) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) dx[i] = days::from_float<T>(days::to_float(dy[i]) * slope(days::to_float(x[i])));
}
template <class F, class T>
void launch(const GeluBackward<T>& p, cudaStream_t stream) {
  backward_of<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n, F{});
  CUDA_CHECK_LAUNCH();
}

// The product rule's first half alone.
struct NoDensity {
  __device__ float operator()(float x) const { return below_of(x); }
};
void no_density_bf16(const GeluBackward<days::bf16>& p, cudaStream_t stream) {
  launch<NoDensity>(p, stream);
}
MUST_REJECT(gelu_backward, no_density_bf16, "1: dx[0] is");

// erf's own derivative, whose exponent is -x^2 and not half of that.
struct ErfsOwn {
  __device__ float operator()(float x) const { return below_of(x) + x * kDensity * expf(-x * x); }
};
void erfs_own(const GeluBackward<days::half>& p, cudaStream_t stream) {
  launch<ErfsOwn>(p, stream);
}
MUST_REJECT(gelu_backward, erfs_own, "1: dx[0] is");

// A difference quotient of fp32's GELU: what a judge in fp32 would have said.
struct Quotient {
  __device__ float operator()(float x) const {
    constexpr float kStep = 1e-3f;
    const float high = x + kStep, low = x - kStep;
    return (high * below_of(high) - low * below_of(low)) / (2 * kStep);
  }
};
void quotient(const GeluBackward<float>& p, cudaStream_t stream) {
  launch<Quotient>(p, stream);
}
MUST_REJECT(gelu_backward, quotient, "dx[");

// The density is taken to be 0 beyond 12, which also takes the NaN from an infinity.
struct CutOff {
  __device__ float operator()(float x) const {
    return fabsf(x) < 12 ? below_of(x) + x * density_of(x) : (x > 0 ? 1.0f : 0.0f);
  }
};
void cut_off(const GeluBackward<float>& p, cudaStream_t stream) {
  launch<CutOff>(p, stream);
}
MUST_REJECT(gelu_backward, cut_off, "expected nan");

// Forward and backward in one kernel, an element a thread; each step below is wrong in one of the two.
template <class T, class Y, class Slope>
__global__ void step_of(const T* x, const T* dy, T* y, T* dx, int64_t n, Y of_y, Slope slope) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float value = days::to_float(x[i]), d = days::to_float(dy[i]);
  y[i] = days::from_float<T>(of_y(value));
  dx[i] = days::from_float<T>(d * slope(value));
}
template <class Y, class Slope, class T>
void launch_step(const GeluStep<T>& p, cudaStream_t stream) {
  step_of<<<days::grid_of(p.n, kThreads, "wrong"), kThreads, 0, stream>>>(p.x, p.dy, p.y, p.dx, p.n, Y{},
                                                                          Slope{});
  CUDA_CHECK_LAUNCH();
}
struct RightY {
  __device__ float operator()(float x) const { return x * below_of(x); }
};
struct RightSlope {
  __device__ float operator()(float x) const { return below_of(x) + x * density_of(x); }
};

// The density from y, which is at hand, where x is meant.
struct FromY {
  __device__ float operator()(float x) const { return below_of(x) + x * density_of(x * below_of(x)); }
};
void from_y(const GeluStep<days::bf16>& p, cudaStream_t stream) {
  launch_step<RightY, FromY>(p, stream);
}
MUST_REJECT(gelu_step, from_y, "1: dx[0] is");

// Seven bits: twice the step.
struct SevenBits {
  __device__ float operator()(float x) const { return rintf(RightSlope{}(x) * (kSteps / 2)) / (kSteps / 2); }
};
void seven_bits(const GeluStep<float>& p, cudaStream_t stream) {
  launch_step<RightY, SevenBits>(p, stream);
}
MUST_REJECT(gelu_step_byte, seven_bits, "dx[");

}  // namespace
}  // namespace day15
