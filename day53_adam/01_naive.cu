// SPDX-License-Identifier: MIT
// A launch for each tensor, a thread for each weight: it loads w, g, m and v, computes, and stores w, m and v, 28 bytes in all.
// Bound by: launches where tensors are small, and else by the few bytes that are under way.
#include "day53_adam/adam.h"

namespace day53 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive_kernel(const AdamTensor<T> t, float b1, float rest1, float b2, float rest2, float eps,
                 const AdamRates rates) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= t.n) return;
  const float g = t.g[i], m = b1 * t.m[i] + rest1 * g, v = b2 * t.v[i] + rest2 * (g * g);
  float w = t.w[i];
  if (t.decays) w -= rates.decay * w;
  t.w[i] = w - rates.size * (m / (sqrtf(v) * rates.root + eps));
  t.m[i] = m;
  t.v[i] = v;
}

}  // namespace

template <class T>
void adam_naive(const Adam<T>& p, cudaStream_t stream) {
  require_problem(p, "naive");
  const AdamRule& rule = p.rule;
  const AdamRates rates = adam_rates(rule, p.lr, p.t);
  for (const auto& tensor : p.tensors) {
    naive_kernel<<<days::grid_of(tensor.n, kThreads, "naive"), kThreads, 0, stream>>>(
        tensor, static_cast<float>(rule.b1), static_cast<float>(1 - rule.b1), static_cast<float>(rule.b2),
        static_cast<float>(1 - rule.b2), static_cast<float>(rule.eps), rates);
    CUDA_CHECK_LAUNCH();
  }
}

INSTANTIATE_LAUNCHER(adam_naive, Adam, float);

}  // namespace day53
