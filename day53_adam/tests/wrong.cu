// SPDX-License-Identifier: MIT
//
// Optimizers with a bug in each, which day 53's tests must reject.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day53_adam/adam.h"

namespace day53 {
namespace {

enum Bug { kEpsInRoot, kDecayInGradient, kAllDecay, kHalfClipped, kOwnMaster, kNaNToo };

// A thread a weight of one tensor.
template <Bug kBug, class T>
__device__ void one_weight(const AdamTensor<T>& t, const AdamRule& rule, const AdamRates& rates,
                           float factor) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= t.n) return;
  const bool decays = t.decays || kBug == kAllDecay;
  float w = t.w[i], g = factor * t.g[i];
  if (kBug == kOwnMaster) w = days::to_float(t.copy[i]);
  if (kBug == kDecayInGradient && decays) g += static_cast<float>(rule.decay) * w;
  const float square = kBug == kHalfClipped ? t.g[i] * t.g[i] : g * g;
  const float m = static_cast<float>(rule.b1) * t.m[i] + static_cast<float>(1 - rule.b1) * g;
  const float v = static_cast<float>(rule.b2) * t.v[i] + static_cast<float>(1 - rule.b2) * square;
  if (kBug != kDecayInGradient && decays) w -= rates.decay * w;
  const float eps = static_cast<float>(rule.eps), scaled = v * rates.root * rates.root;
  w -= rates.size * m / (kBug == kEpsInRoot ? sqrtf(scaled + eps) : sqrtf(scaled) + eps);
  t.w[i] = w;
  t.m[i] = m;
  t.v[i] = v;
  if (t.copy != nullptr) t.copy[i] = days::from_float<T>(w);
}

template <Bug kBug, class T>
__global__ void wrong_kernel(const AdamTensor<T> t, const AdamRule rule, const AdamRates rates,
                             float factor) {
  one_weight<kBug>(t, rule, rates, factor);
}

template <Bug kBug>
void wrong(const Adam<float>& p, cudaStream_t stream) {
  const AdamRates rates = adam_rates(p.rule, p.lr, p.t);
  for (const auto& t : p.tensors) {
    wrong_kernel<kBug>
        <<<days::grid_of(t.n, kThreads, "wrong"), kThreads, 0, stream>>>(t, p.rule, rates, 1.0f);
    CUDA_CHECK_LAUNCH();
  }
}

// The norm of all, one block and one tensor after the other; `last` takes the root.
__global__ void norm_kernel(const float* g, int64_t n, bool first, bool last, float* norm) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += g[i] * g[i];
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x != 0) return;
  if (!first) sum += *norm;
  *norm = last ? sqrtf(sum) : sum;
}
template <Bug kBug, class T>
__global__ void wrong_step_kernel(const AdamTensor<T> t, const AdamRule rule, const AdamRates* rates,
                                  float max_norm, const float* norm) {
  const bool is_finite = isfinite(*norm);
  if (!is_finite && kBug != kNaNToo) return;
  one_weight<kBug>(t, rule, *rates, is_finite ? fminf(1, max_norm / (*norm + 1e-6f)) : 1);
}
template <Bug kBug, class T>
void wrong_step(const AdamStep<T>& p, cudaStream_t stream) {
  for (const auto& t : p.tensors) {
    norm_kernel<<<1, kThreads, 0, stream>>>(t.g, t.n, &t == &p.tensors.front(), &t == &p.tensors.back(),
                                            p.norm);
    CUDA_CHECK_LAUNCH();
  }
  for (const auto& t : p.tensors) {
    wrong_step_kernel<kBug><<<days::grid_of(t.n, kThreads, "wrong"), kThreads, 0, stream>>>(
        t, p.rule, p.rates, p.max_norm, p.norm);
    CUDA_CHECK_LAUNCH();
  }
}

}  // namespace

void eps_in_root(const Adam<float>& p, cudaStream_t stream) {
  wrong<kEpsInRoot>(p, stream);
}
MUST_REJECT(adam, eps_in_root, "w[0] is");

void decay_in_gradient(const Adam<float>& p, cudaStream_t stream) {
  wrong<kDecayInGradient>(p, stream);
}
MUST_REJECT(adam, decay_in_gradient, "m[0] is");

void all_decay(const Adam<float>& p, cudaStream_t stream) {
  wrong<kAllDecay>(p, stream);
}
MUST_REJECT(adam, all_decay, "w[");

void v_not_clipped(const AdamStep<days::half>& p, cudaStream_t stream) {
  wrong_step<kHalfClipped>(p, stream);
}
MUST_REJECT(adam_step, v_not_clipped, "v[0] is");

// The weights of 16 bits are the only ones: most steps are less than half of their last bit.
void own_master(const AdamStep<days::bf16>& p, cudaStream_t stream) {
  wrong_step<kOwnMaster>(p, stream);
}
MUST_REJECT(adam_step, own_master, "w[0] is");

void nan_too(const AdamStep<days::half>& p, cudaStream_t stream) {
  wrong_step<kNaNToo>(p, stream);
}
MUST_REJECT(adam_step, nan_too, "a NaN: ");

}  // namespace day53
