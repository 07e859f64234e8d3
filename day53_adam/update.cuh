// SPDX-License-Identifier: MIT
// What becomes of one weight, and of a chunk of a tensor: rungs naive and vectors take it apart.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/vector.cuh"
#include "day53_adam/adam.h"

namespace day53 {

// The rule as kernels take it. 1 - b is worked out in double.
struct Betas {
  explicit Betas(const AdamRule& rule)
      : b1(static_cast<float>(rule.b1)),
        rest1(static_cast<float>(1 - rule.b1)),
        b2(static_cast<float>(rule.b2)),
        rest2(static_cast<float>(1 - rule.b2)),
        eps(static_cast<float>(rule.eps)) {}
  float b1, rest1, b2, rest2, eps;
};

__device__ inline void update(float& w, float g, float& m, float& v, const Betas& betas,
                              const AdamRates& rates) {
  m = betas.b1 * m + betas.rest1 * g;
  v = betas.b2 * v + betas.rest2 * (g * g);
  w -= rates.decay * w;
  w -= rates.size * (m / (sqrtf(v) * rates.root + betas.eps));
}

// By how much all gradients are multiplied.
struct Clip {
  const float* norm = nullptr;  // null: by 1
  float max_norm = 0;

  // False where nothing may be changed.
  __device__ bool gives(float& factor) const {
    factor = 1;
    if (norm == nullptr) return true;
    const float found = *norm;
    factor = fminf(1, max_norm / (found + 1e-6f));
    return isfinite(found);
  }
};

// Chunk number `chunk` of a tensor, a block of kThreads threads. The norm is looked at when the loads are under way, so that
// nobody waits for one and then for the other.
template <class T>
__device__ inline void update_chunk(const AdamTensor<T>& t, int64_t chunk, const Betas& betas,
                                    AdamRates rates, const Clip& clip = {}) {
  if (!t.decays) rates.decay = 0;
  const int64_t begin = chunk * kChunk, end = min(begin + kChunk, t.n);
  float factor;
  const auto one_by_one = [&](int64_t first) {
#pragma unroll 1  // of tails and of what is not aligned
    for (int64_t i = first + threadIdx.x; i < end; i += kThreads) {
      float w = t.w[i], m = t.m[i], v = t.v[i];
      update(w, t.g[i] * factor, m, v, betas, rates);
      t.w[i] = w;
      t.m[i] = m;
      t.v[i] = v;
      if constexpr (!std::is_same_v<T, float>) t.copy[i] = days::from_float<T>(w);
    }
  };
  if (!days::aligned16(t.w, t.g, t.m, t.v) || reinterpret_cast<uintptr_t>(t.copy) % 8 != 0) {
    if (clip.gives(factor)) one_by_one(begin);
    return;
  }
  days::Vec<float> w[kVectors], g[kVectors], m[kVectors], v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = begin + 4 * (int64_t{threadIdx.x} + k * kThreads);
    if (i + 4 > end) continue;
    w[k] = days::load16_streaming(t.w + i);
    g[k] = days::load16_streaming(t.g + i);
    m[k] = days::load16_streaming(t.m + i);
    v[k] = days::load16_streaming(t.v + i);
  }
  if (!clip.gives(factor)) return;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = begin + 4 * (int64_t{threadIdx.x} + k * kThreads);
    if (i + 4 > end) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) update(w[k][j], g[k][j] * factor, m[k][j], v[k][j], betas, rates);
    days::store16_streaming(t.w + i, w[k]);
    days::store16_streaming(t.m + i, m[k]);
    days::store16_streaming(t.v + i, v[k]);
    if constexpr (!std::is_same_v<T, float>) {
      days::HalfVec<T> rounded;
#pragma unroll
      for (int j = 0; j < 4; ++j) rounded[j] = days::from_float<T>(w[k][j]);
      days::store8(t.copy + i, rounded);
    }
  }
  one_by_one(begin + (end - begin) / 4 * 4);
}

}  // namespace day53
