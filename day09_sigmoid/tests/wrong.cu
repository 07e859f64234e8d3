// SPDX-License-Identifier: MIT
//
// Logistic functions and gradients with a bug in each, which day 09's tests must reject.

#include "common/must_reject.h"
#include "common/ptx.h"
#include "common/ptx/tanh.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

template <class T, class F>
__global__ void map(const T* x, T* y, int64_t n, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(f(days::to_float(x[i])));
}
template <class F, class T>
void launch(const Sigmoid<T>& p, cudaStream_t stream) {
  map<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.y, p.n, F{});
  CUDA_CHECK_LAUNCH();
}
template <class T, class F>
__global__ void map_two(const T* a, const T* b, T* y, int64_t n, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(f(days::to_float(a[i]), days::to_float(b[i])));
}
template <class F, class T>
void launch(const SigmoidBackward<T>& p, cudaStream_t stream) {
  map_two<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n, F{});
  CUDA_CHECK_LAUNCH();
}

// e^x / (1 + e^x): inf / inf is NaN from x = 88.8 on.
struct PositivePower {
  __device__ float operator()(float x) const {
    const float power = expf(x);
    return power / (1 + power);
  }
};
void positive_power(const Sigmoid<float>& p, cudaStream_t stream) {
  launch<PositivePower>(p, stream);
}
MUST_REJECT(sigmoid, positive_power, "is nan, expected 1");

// The formula in fp16: e^-x is infinite left of -11.1, and the result 0, where 1e-5 is one of fp16's numbers.
__global__ void in_16_bits_kernel(const days::half* x, days::half* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float power = days::to_float(days::from_float<days::half>(expf(-days::to_float(x[i]))));
  y[i] = days::from_float<days::half>(1 / (1 + power));
}
void in_16_bits(const Sigmoid<days::half>& p, cudaStream_t stream) {
  in_16_bits_kernel<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(sigmoid, in_16_bits, "y[");

// 1 - s(-x) far left of 0: the difference of 1 and what was rounded to 1.
struct OneMinus {
  __device__ float operator()(float x) const { return 1 - 1 / (1 + expf(x)); }
};
void one_minus_bf16(const Sigmoid<days::bf16>& p, cudaStream_t stream) {
  launch<OneMinus>(p, stream);
}
MUST_REJECT(sigmoid, one_minus_bf16, "is 0, expected");

// x is clamped to 88, so that nothing overflows: and a NaN is 88 from then on.
struct Clamped {
  __device__ float operator()(float x) const { return 1 / (1 + expf(-fminf(fmaxf(x, -88), 88))); }
};
void clamped(const Sigmoid<float>& p, cudaStream_t stream) {
  launch<Clamped>(p, stream);
}
MUST_REJECT(sigmoid, clamped, "special values: y[0] is 6.05");

// The same from a y that was rounded to fp16, as forward wrote it.
__global__ void from_stored_kernel(const days::half* x, const days::half* dy, days::half* dx, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float y = days::to_float(days::from_float<days::half>(1 / (1 + expf(-days::to_float(x[i])))));
  dx[i] = days::from_float<days::half>(days::to_float(dy[i]) * (y * (1 - y)));
}
void from_stored(const SigmoidBackward<days::half>& p, cudaStream_t stream) {
  from_stored_kernel<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(sigmoid_backward, from_stored, "dx[");

// e^x for e^-|x|: inf / inf^2.
struct NotEven {
  __device__ float operator()(float x, float dy) const {
    const float z = expf(x), inverse = 1 / (1 + z);
    return dy * (z * inverse * inverse);
  }
};
void not_even(const SigmoidBackward<days::bf16>& p, cudaStream_t stream) {
  launch<NotEven>(p, stream);
}
MUST_REJECT(sigmoid_backward, not_even, "is nan, expected");

}  // namespace
}  // namespace day09
