// SPDX-License-Identifier: MIT
//
// GeGLUs and GeGELUs with a bug in each, which day 44's tests must reject.

#include "common/must_reject.h"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

// An output a thread: out(gate, value, limit) of the two that `places` names.
struct InHalves {
  __device__ static int64_t gate(int64_t i, int64_t cols) { return i / cols * 2 * cols + i % cols; }
  __device__ static int64_t value(int64_t i, int64_t cols) { return gate(i, cols) + cols; }
};
struct InPairs {
  __device__ static int64_t gate(int64_t i, int64_t) { return 2 * i; }
  __device__ static int64_t value(int64_t i, int64_t) { return 2 * i + 1; }
};
template <class Places, class F, class T>
__global__ void map(const T* x, T* y, int64_t n, int64_t cols, float limit, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float gate = days::to_float(x[Places::gate(i, cols)]),
              value = days::to_float(x[Places::value(i, cols)]);
  y[i] = days::from_float<T>(f(gate, value, limit));
}
template <class Places, class F, class P>
void launch(const P& p, cudaStream_t stream) {
  float limit = 0;
  if constexpr (requires { p.limit; }) limit = p.limit;
  map<Places><<<blocks_of_pairs(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols, p.cols,
                                                                       limit, F{});
  CUDA_CHECK_LAUNCH();
}

// One layout is taken for the other: with one column, and in the first output, they are the same.
struct Right {
  __device__ float operator()(float gate, float value, float) const { return geglu(gate, value); }
};
void pairs_for_halves(const Geglu<days::bf16>& p, cudaStream_t stream) {
  launch<InPairs, Right>(p, stream);
}
MUST_REJECT(geglu, pairs_for_halves, "1 x 2: y[0,0] is");

// fminf gives the number where the other is NaN: a NaN becomes the limit.
struct HidesNan {
  __device__ float operator()(float gate, float value, float limit) const {
    return quick(isinf(gate) ? gate : fminf(gate, limit)) *
           ((isinf(value) ? value : fmaxf(-limit, fminf(value, limit))) + 1);
  }
};
void hides_nan(const Gegelu<float>& p, cudaStream_t stream) {
  launch<InPairs, HidesNan>(p, stream);
}
MUST_REJECT(gegelu, hides_nan, "expected nan");

// What is infinite is clamped, too.
struct ClampsInfinity {
  __device__ float operator()(float gate, float value, float limit) const {
    const float g = gate > limit ? limit : gate, v = value > limit ? limit : value < -limit ? -limit : value;
    return quick(g) * (v + 1);
  }
};
void clamps_infinity(const Gegelu<days::bf16>& p, cudaStream_t stream) {
  launch<InPairs, ClampsInfinity>(p, stream);
}
MUST_REJECT(gegelu, clamps_infinity, "expected inf|expected -inf|expected nan");

// ---- Backward.

template <class Places, class F, class T>
__global__ void grad_map(const T* x, const T* dy, T* dx, int64_t n, int64_t cols, float limit, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const int64_t gate = Places::gate(i, cols), value = Places::value(i, cols);
  const Gradient g = f(days::to_float(x[gate]), days::to_float(x[value]), days::to_float(dy[i]), limit);
  dx[gate] = days::from_float<T>(g.gate);
  dx[value] = days::from_float<T>(g.value);
}
template <class Places, class F, class P>
void launch_grad(const P& p, cudaStream_t stream) {
  float limit = 0;
  if constexpr (requires { p.limit; }) limit = p.limit;
  grad_map<Places><<<blocks_of_pairs(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.rows * p.cols,
                                                                            p.cols, limit, F{});
  CUDA_CHECK_LAUNCH();
}

// e * s for 1 - s, wherever the gate is: inf * 0 far left.
struct InfTimesZero {
  __device__ Gradient operator()(float gate, float value, float dy, float) const {
    const float x = within_64(gate), e = expf(-x * (kTanh + kTanh3 * x * x)), s = 1 / (1 + e);
    return {dy * value * (s + x * (kTanh + 3 * kTanh3 * x * x) * s * (e * s)), dy * gelu(gate)};
  }
};
void inf_times_zero(const GegluBackward<float>& p, cudaStream_t stream) {
  launch_grad<InHalves, InfTimesZero>(p, stream);
}
MUST_REJECT(geglu_backward, inf_times_zero, "is nan, expected");

// x^3 of a large gate is inf, and inf * 0 is not 0.
struct Overflows {
  __device__ Gradient operator()(float gate, float value, float dy, float) const {
    const float z = gate * (kTanh + kTanh3 * gate * gate);
    return {dy * value * slope(gate, z, kTanh + 3 * kTanh3 * gate * gate), dy * gelu(gate)};
  }
};
void overflows(const GegluBackward<float>& p, cudaStream_t stream) {
  launch_grad<InHalves, Overflows>(p, stream);
}
MUST_REJECT(geglu_backward, overflows, "special gates: dx[");

// The gradient of a NaN is 0, as if it had been clamped.
struct NanIsHeld {
  __device__ Gradient operator()(float gate, float value, float dy, float limit) const {
    Gradient g = gegelu_gradient(gate, value, dy, limit);
    if (!(gate <= limit)) g.gate = 0;
    return g;
  }
};
void nan_is_held(const GegeluBackward<days::bf16>& p, cudaStream_t stream) {
  launch_grad<InPairs, NanIsHeld>(p, stream);
}
MUST_REJECT(gegelu_backward, nan_is_held, "is 0, expected");

}  // namespace
}  // namespace day44
