// SPDX-License-Identifier: MIT
//
// Swishes with a bug in each, which day 41's tests must reject.

#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day41_swish/gradient.cuh"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

template <class T, class F>
__global__ void map(const T* x, const float* beta, T* y, int64_t n, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(f(days::to_float(x[i]), *beta));
}
template <class F, class T>
void launch(const Swish<T>& p, cudaStream_t stream) {
  map<<<blocks_of(p, "wrong", kThreads), kThreads, 0, stream>>>(p.x, p.beta, p.y, p.n, F{});
  CUDA_CHECK_LAUNCH();
}

// x / (1 + e^-u) with e^u / (1 + e^u) for positive u, where inf / inf is NaN.
struct PositivePower {
  __device__ float operator()(float x, float beta) const {
    const float power = expf(beta * x);
    return x * (power / (1 + power));
  }
};
void positive_power(const Swish<days::bf16>& p, cudaStream_t stream) {
  launch<PositivePower>(p, stream);
}
MUST_REJECT(swish, positive_power, "is nan, expected");

// fmaxf and fminf return the number where the other is NaN: a beta of NaN is 128 from then on.
struct Clamped {
  __device__ float operator()(float x, float beta) const {
    return x * days::sigmoid(fminf(fmaxf(beta * x, -128.0f), 128.0f));
  }
};
void clamped(const Swish<days::half>& p, cudaStream_t stream) {
  launch<Clamped>(p, stream);
}
MUST_REJECT(swish, clamped, "beta is NaN");

// Backward by a kernel of one thread an element; F(x, dy, beta) -> Gradient.
template <class T, class F>
__global__ void one_each(const SwishBackward<T> p, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const Gradient one = f(days::to_float(p.x[i]), days::to_float(p.dy[i]), *p.beta);
  p.dx[i] = days::from_float<T>(one.dx);
  atomicAdd(p.dbeta, one.of_beta);
}
template <class F, class T>
void launch(const SwishBackward<T>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(p.dbeta, 0, sizeof(float), stream));
  one_each<<<blocks_of(p, "wrong", kThreads), kThreads, 0, stream>>>(p, F{});
  CUDA_CHECK_LAUNCH();
}

// What is added to dbeta is rounded to bf16 first.
struct Rounded {
  __device__ Gradient operator()(float x, float dy, float beta) const {
    const Gradient right = gradient(x, dy, beta);
    return {right.dx, days::to_float(days::from_float<days::bf16>(right.of_beta))};
  }
};
void rounded(const SwishBackward<days::bf16>& p, cudaStream_t stream) {
  launch<Rounded>(p, stream);
}
MUST_REJECT(swish_backward, rounded, "dbeta[0] is");

// 0 * inf: u is not kept finite.
struct NotFinite {
  __device__ Gradient operator()(float x, float dy, float beta) const {
    const float u = beta * x, s = days::sigmoid(u);
    return {dy * (s * (1 + u * days::sigmoid(-u))), gradient(x, dy, beta).of_beta};
  }
};
void not_finite(const SwishBackward<float>& p, cudaStream_t stream) {
  launch<NotFinite>(p, stream);
}
MUST_REJECT(swish_backward, not_finite, "dx[");

// dbeta is not set to 0 before it is added to.
struct Right {
  __device__ Gradient operator()(float x, float dy, float beta) const { return gradient(x, dy, beta); }
};
void not_cleared(const SwishBackward<float>& p, cudaStream_t stream) {
  one_each<<<blocks_of(p, "not_cleared", kThreads), kThreads, 0, stream>>>(p, Right{});
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(swish_backward, not_cleared, "1: dbeta[0] is nan|simt-uninit-global");

// dbeta += sum without an atomic: the blocks overwrite each other.
__global__ void plain_sum_kernel(const SwishBackward<float> p) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  float sum = 0;
  if (i < p.n) {
    const Gradient one = gradient(p.x[i], p.dy[i], *p.beta);
    p.dx[i] = one.dx;
    sum = one.of_beta;
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *p.dbeta = sum;
}
void plain_sum(const SwishBackward<float>& p, cudaStream_t stream) {
  plain_sum_kernel<<<blocks_of(p, "wrong", kThreads), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(swish_backward, plain_sum, "257: dbeta[0] is|simt-race-global");

}  // namespace
}  // namespace day41
