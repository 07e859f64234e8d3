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

// The formula with erf where that with tanh is asked for: up to 5e-4 away.
struct ByErf {
  __device__ float operator()(float gate, float value, float) const {
    return 0.5f * gate * (1 + erff(0.707106781f * gate)) * value;
  }
};
void by_erf(const Geglu<float>& p, cudaStream_t stream) {
  launch<InHalves, ByErf>(p, stream);
}
MUST_REJECT(geglu, by_erf, "1 x 1: y[0,0] is");

// The second half is taken for the gates.
struct ValueFirst {
  __device__ float operator()(float gate, float value, float) const { return geglu(value, gate); }
};
void value_first(const Geglu<days::half>& p, cudaStream_t stream) {
  launch<InHalves, ValueFirst>(p, stream);
}
MUST_REJECT(geglu, value_first, "1 x 1: y[0,0] is");

// One layout is taken for the other: with one column, and in the first output, they are the same.
struct Right {
  __device__ float operator()(float gate, float value, float) const { return geglu(gate, value); }
};
void pairs_for_halves(const Geglu<days::bf16>& p, cudaStream_t stream) {
  launch<InPairs, Right>(p, stream);
}
MUST_REJECT(geglu, pairs_for_halves, "1 x 2: y[0,0] is");

// Halves of the whole matrix: right for one row.
__global__ void whole_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = geglu(x[i], x[n + i]);
}
void halves_of_all(const Geglu<float>& p, cudaStream_t stream) {
  whole_kernel<<<blocks_of_pairs(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(geglu, halves_of_all, "3 x 1: y[");

// GeGELU without its 1.
struct NoOne {
  __device__ float operator()(float gate, float value, float limit) const {
    return gegelu(gate, value - 1, limit);
  }
};
void no_one(const Gegelu<float>& p, cudaStream_t stream) {
  launch<InPairs, NoOne>(p, stream);
}
MUST_REJECT(gegelu, no_one, "1 x 1: y[0,0] is");

// The gate's GELU with tanh, up to 2e-2 from quick.
struct OtherGelu {
  __device__ float operator()(float gate, float value, float) const { return gelu(gate) * (value + 1); }
};
void other_gelu(const Gegelu<days::bf16>& p, cudaStream_t stream) {
  launch<InPairs, OtherGelu>(p, stream);
}
MUST_REJECT(gegelu, other_gelu, "y[");

struct Unclamped {
  __device__ float operator()(float gate, float value, float) const { return quick(gate) * (value + 1); }
};
void unclamped(const Gegelu<days::half>& p, cudaStream_t stream) {
  launch<InPairs, Unclamped>(p, stream);
}
MUST_REJECT(gegelu, unclamped, "special gates: y[|special values: y[|up to 30 either way: y[");

// The value is clamped above alone, as the gate is.
struct ClampedAbove {
  __device__ float operator()(float gate, float value, float limit) const {
    const float g = beyond(gate, limit) ? limit : gate, v = beyond(value, limit) ? limit : value;
    return quick(g) * (v + 1);
  }
};
void clamped_above(const Gegelu<float>& p, cudaStream_t stream) {
  launch<InPairs, ClampedAbove>(p, stream);
}
MUST_REJECT(gegelu, clamped_above, "special values: y[|up to 30 either way: y[");

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

// The pairs after the last whole vector are left out.
__global__ void no_tail_kernel(const float4* x, float2* y, int64_t vectors, float limit) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const float4 v = x[i];
  y[i] = make_float2(gegelu(v.x, v.y, limit), gegelu(v.z, v.w, limit));
}
void no_tail(const Gegelu<float>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "wrong", 2);
  days::require_needs(p, "wrong", kAligned);
  no_tail_kernel<<<blocks, kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(p.x), reinterpret_cast<float2*>(p.y), p.rows * p.cols / 2, p.limit);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(gegelu, no_tail, "1 x 1: y[0,0] is nan");

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

// sigmoid alone: the derivative without the part that the gate in front of it has.
struct SigmoidAlone {
  __device__ Gradient operator()(float gate, float value, float dy, float) const {
    return {dy * value / (1 + expf(-gate * (kTanh + kTanh3 * gate * gate))), dy * gelu(gate)};
  }
};
void sigmoid_alone(const GegluBackward<days::half>& p, cudaStream_t stream) {
  launch_grad<InHalves, SigmoidAlone>(p, stream);
}
MUST_REJECT(geglu_backward, sigmoid_alone, "1 x 1: dx[0,0] is");

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

// The gradients change places.
struct Swapped {
  __device__ Gradient operator()(float gate, float value, float dy, float) const {
    const Gradient g = geglu_gradient(gate, value, dy);
    return {g.value, g.gate};
  }
};
void swapped(const GegluBackward<days::bf16>& p, cudaStream_t stream) {
  launch_grad<InHalves, Swapped>(p, stream);
}
MUST_REJECT(geglu_backward, swapped, "1 x 1: dx[0,");

// A clamp is forgotten backward: the gradient of what is held at the limit is that at the limit.
struct NotHeld {
  __device__ Gradient operator()(float gate, float value, float dy, float limit) const {
    const float g = beyond(gate, limit) ? limit : gate;
    const float v = beyond(value, limit) ? limit : beyond(-value, limit) ? -limit : value;
    return {dy * (v + 1) * quick_slope(g), dy * quick(g)};
  }
};
void not_held(const GegeluBackward<float>& p, cudaStream_t stream) {
  launch_grad<InPairs, NotHeld>(p, stream);
}
MUST_REJECT(gegelu_backward, not_held, "expected 0");

// What equals the limit counts as clamped.
struct HeldAtTheLimit {
  __device__ Gradient operator()(float gate, float value, float dy, float limit) const {
    Gradient g = gegelu_gradient(gate, value, dy, limit);
    if (gate == limit) g.gate = 0;
    if (fabsf(value) == limit) g.value = 0;
    return g;
  }
};
void held_at_the_limit(const GegeluBackward<days::half>& p, cudaStream_t stream) {
  launch_grad<InPairs, HeldAtTheLimit>(p, stream);
}
MUST_REJECT(gegelu_backward, held_at_the_limit, "is 0, expected");

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

// dx is written where the halves would be.
__global__ void halves_out_kernel(const float* x, const float* dy, float* dx, int64_t n, int64_t cols,
                                  float limit) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const Gradient g = gegelu_gradient(x[2 * i], x[2 * i + 1], dy[i], limit);
  const int64_t gate = InHalves::gate(i, cols);
  dx[gate] = g.gate;
  dx[gate + cols] = g.value;
}
void halves_out(const GegeluBackward<float>& p, cudaStream_t stream) {
  halves_out_kernel<<<blocks_of_pairs(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.rows * p.cols,
                                                                             p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(gegelu_backward, halves_out, "1 x 2: dx[0,");

}  // namespace
}  // namespace day44
