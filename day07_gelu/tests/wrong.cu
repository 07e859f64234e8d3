// SPDX-License-Identifier: MIT
//
// GELUs with a bug in each, which day 07's tests must reject.

#include "common/must_reject.h"
#include "common/ptx/tanh.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

template <class T, class F>
__global__ void map(const T* x, T* y, int64_t n, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(f(days::to_float(x[i])));
}
template <class F, class T>
void launch(const Gelu<T>& p, cudaStream_t stream) {
  map<<<blocks_of(p, "wrong", 1), kThreads, 0, stream>>>(p.x, p.y, p.n, F{});
  CUDA_CHECK_LAUNCH();
}

// The formula with tanh where erf is asked for: up to 5e-4 away.
struct TanhForErf {
  __device__ float operator()(float x) const {
    return 0.5f * x * (1 + tanhf(x * (kTanhX + kTanhX3 * x * x)));
  }
};
void tanh_for_erf(const Gelu<float>& p, cudaStream_t stream) {
  launch<TanhForErf>(p, stream);
}
MUST_REJECT(gelu, tanh_for_erf, "1: y[0] is");

// Swish with 1.702, another approximation, up to 2e-2 away: too far for 16 bits, too.
struct Quick {
  __device__ float operator()(float x) const { return x / (1 + expf(-1.702f * x)); }
};
void quick_bf16(const Gelu<days::bf16>& p, cudaStream_t stream) {
  launch<Quick>(p, stream);
}
MUST_REJECT(gelu_tanh, quick_bf16, "1: y[0] is");

// The instruction where all digits are asked for.
struct Approx {
  __device__ float operator()(float x) const {
    return 0.5f * x * (1 + days::ptx::tanh_approx(x * (kTanhX + kTanhX3 * x * x)));
  }
};
void approx(const Gelu<float>& p, cudaStream_t stream) {
  launch<Approx>(p, stream);
}
MUST_REJECT(gelu_tanh, approx, "y[");

// (e^2u - 1) / (e^2u + 1): inf / inf is NaN from x = 6 on.
struct Quotient {
  __device__ float operator()(float x) const {
    const float power = expf(2 * x * (kTanhX + kTanhX3 * x * x));
    return 0.5f * x * (1 + (power - 1) / (power + 1));
  }
};
void quotient(const Gelu<float>& p, cudaStream_t stream) {
  launch<Quotient>(p, stream);
}
MUST_REJECT(gelu_tanh, quotient, "is nan, expected");

// ReLU's way with NaN: it becomes 0.
struct HidesNan {
  __device__ float operator()(float x) const {
    const float y = 0.5f * x * (1 + erff(kHalfRoot * x));
    return y >= -0.2f ? y : 0.0f;
  }
};
void hides_nan(const Gelu<days::bf16>& p, cudaStream_t stream) {
  launch<HidesNan>(p, stream);
}
MUST_REJECT(gelu, hides_nan, "special values: y[0] is 0, expected nan");

// The ladder's bound is for the instruction, and not for any 16-bit number: tanh cut to 6 binary digits.
struct SixDigits {
  __device__ float operator()(float x) const {
    const float tanh = tanhf(x * (kTanhX + kTanhX3 * x * x));
    return 0.5f * x * (1 + rintf(tanh * 64) / 64);
  }
};
void six_digits(const Gelu<days::half>& p, cudaStream_t stream) {
  launch<SixDigits>(p, stream);
}
MUST_REJECT(gelu_fast, six_digits, "y[");

}  // namespace
}  // namespace day07
