// SPDX-License-Identifier: MIT
// Sixteen bytes a load, and two such loads from each of the four arrays before anything is computed: 128 bytes under way in each
// thread, where naive has 16. A tensor's last weights, fewer than four, go one by one.
// Bound by: a launch for each tensor still.
#include "common/vector.cuh"
#include "day53_adam/adam.h"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    vectors_kernel(const AdamTensor<T> t, const Betas betas, AdamRates rates) {
  if (!t.decays) rates.decay = 0;
  const int64_t begin = int64_t{blockIdx.x} * kChunk, end = min(begin + kChunk, t.n);
  days::Vec<float> w[kVectors], g[kVectors], m[kVectors], v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = begin + 4 * (int64_t{threadIdx.x} + k * kThreads);
    if (i + 4 > end) continue;
    w[k] = days::load16(t.w + i);
    g[k] = days::load16(t.g + i);
    m[k] = days::load16(t.m + i);
    v[k] = days::load16(t.v + i);
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = begin + 4 * (int64_t{threadIdx.x} + k * kThreads);
    if (i + 4 > end) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) update(w[k][j], g[k][j], m[k][j], v[k][j], betas, rates);
    days::store16(t.w + i, w[k]);
    days::store16(t.m + i, m[k]);
    days::store16(t.v + i, v[k]);
  }
  const int64_t i = begin + (end - begin) / 4 * 4 + threadIdx.x;
  if (i < end) update(t.w[i], t.g[i], t.m[i], t.v[i], betas, rates);
}

}  // namespace

template <class T>
void adam_vectors(const Adam<T>& p, cudaStream_t stream) {
  require_problem(p, "vectors");
  days::require_needs(p, "vectors", kAligned);
  const AdamRates rates = adam_rates(p.rule, p.lr, p.t);
  for (const auto& tensor : p.tensors) {
    vectors_kernel<<<days::grid_of(tensor.n, kChunk, "vectors"), kThreads, 0, stream>>>(tensor, Betas(p.rule),
                                                                                        rates);
    CUDA_CHECK_LAUNCH();
  }
}

INSTANTIATE_LAUNCHER(adam_vectors, Adam, float);

}  // namespace day53
