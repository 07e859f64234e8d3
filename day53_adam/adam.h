// SPDX-License-Identifier: MIT
// Day 53: AdamW on a list of tensors. Launchers on device pointers; they throw std::invalid_argument that names the value where
// they do not support a problem.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day53 {

// The weights of a layer, and what the optimizer keeps for each of them. The arrays lie in device memory, anywhere.
template <class T>
struct AdamTensor {
  float* w;        // (n)
  const float* g;  // (n): the gradient
  float* m;        // (n): a running mean of g
  float* v;        // (n): a running mean of g * g
  T* copy;         // (n): w rounded to 16 bits, which the model computes with; null where T is float
  int64_t n;
  bool decays;  // matrices do; biases and norms do not
};

// What stays the same for the whole training.
struct AdamRule {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 0.01;
};

// What changes from step to step, as kernels take it.
struct AdamRates {
  float decay;  // the learning rate times rule.decay: the share of w that is taken away
  float size;   // the learning rate over c1 = 1 - b1^t
  float root;   // 1 / sqrt(c2), c2 = 1 - b2^t
};
// Of step t, which counts from 1. In double: of 1 - 0.999f four digits are right. Throws std::invalid_argument where t is less.
inline AdamRates adam_rates(const AdamRule& rule, double lr, int64_t t) {
  days::require(t >= 1, "adam: steps count from 1, and this is", t);
  const double c1 = 1 - std::pow(rule.b1, static_cast<double>(t)),
               c2 = 1 - std::pow(rule.b2, static_cast<double>(t));
  return {static_cast<float>(lr * rule.decay), static_cast<float>(lr / c1),
          static_cast<float>(1 / std::sqrt(c2))};
}

// Step t on all tensors:
//   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g g      w = w - lr decay w - lr (m / c1) / (sqrt(v / c2) + eps)
// g g is rounded to fp32, so that a |g| beyond 1.8e19 makes v infinite, and that weight moves no more, as PyTorch has it.
template <class T>
struct Adam {
  std::vector<AdamTensor<T>> tensors;
  AdamRule rule;
  double lr;
  int64_t t;
};

// A training step, with nothing in it that only the host knows, so that a graph can hold it: what changes is read on the device.
// norm = the root of the sum of g g over all tensors. Where it is finite, all gradients are taken min(1, max_norm / (norm + 1e-6))
// times, the step is done with them, and w is rounded to `copy`. Where it is not, norm alone is written: whoever counts steps
// looks at it. Two runs give the same bits.
template <class T>
struct AdamStep {
  std::vector<AdamTensor<T>> tensors;
  AdamRule rule;
  const AdamRates* rates;  // device memory
  float max_norm;          // infinity: no gradient is scaled
  float* norm;             // (1)
  days::Workspace workspace;
};

// Eight bits in place of 32: m and the root of v are codes, of which each group of kGroup weights has a scale. A code is a float of
// 4 bits of exponent and 3 of fraction; the group's largest is 448, the largest there is.
template <class T>
struct BytesTensor {
  float* w;           // (n)
  const float* g;     // (n)
  days::fp8_e4m3* m;  // (n): m / m_scale
  days::fp8_e4m3* r;  // (n): sqrt(v) / r_scale, never 0 where v is not
  float* m_scale;  // (groups): the largest |m| / 448; 0 where that |m| is below kLeast, and so are its codes
  float* r_scale;  // (groups)
  T* copy;         // (n): w rounded to 16 bits; null where T is float
  int64_t n;
  bool decays;
};
inline constexpr int kGroup = 256;
inline constexpr float kLargestCode = 448, kLeastCode = 0x1p-9f, kLeast = 1e-12f;

// AdamStep with such tensors.
template <class T>
struct AdamBytes {
  std::vector<BytesTensor<T>> tensors;
  AdamRule rule;
  const AdamRates* rates;  // device memory
  float max_norm;
  float* norm;  // (1)
  days::Workspace workspace;
};

inline constexpr int kThreads = 256;
inline constexpr int kVectors = 2;                      // of 16 bytes that a thread loads from each array
inline constexpr int kChunk = kThreads * kVectors * 4;  // weights of a block
inline constexpr int kNormChunk = 8 * kChunk;           // gradients of which a block adds up the squares

// ---- what the launchers need ----

inline constexpr auto kAligned = days::needs("16-byte aligned tensors", [](const auto& p) {
  for (const auto& t : p.tensors)
    if (!days::aligned16(t.w, t.g, t.m, t.v)) return false;
  return true;
});

template <class P>
void require_problem(const P& p, const char* variant) {
  days::require(!p.tensors.empty(), variant, ": there are no tensors");
  for (const auto& t : p.tensors)
    days::require(t.n > 0, variant, ": a tensor's n must be positive, not", t.n);
  if constexpr (requires { p.max_norm; }) {
    days::require(p.max_norm > 0, variant, ": max_norm must be positive, not", p.max_norm);
  }
}
template <class P>
char* workspace_of(const P& p, size_t needed, const char* variant) {
  require_problem(p, variant);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<char*>(p.workspace.data);
}

// The sums of squares, one for each chunk of each tensor.
template <class P>
size_t norm_workspace(const P& p) {
  int64_t sums = 0;
  for (const auto& t : p.tensors) sums += days::ceil_div(t.n, kNormChunk);
  return days::round_up(sizeof(float) * static_cast<size_t>(sums), size_t{16});
}
// apart: and the scaled gradients, each tensor at a multiple of 16 bytes.
template <class T>
size_t apart_workspace(const AdamStep<T>& p) {
  size_t bytes = norm_workspace(p);
  for (const auto& t : p.tensors)
    bytes += days::round_up(sizeof(float) * static_cast<size_t>(t.n), size_t{16});
  return bytes;
}

// ---- launchers ----

template <class T>
void adam_naive(const Adam<T>&, cudaStream_t);
template <class T>
void adam_vectors(const Adam<T>&, cudaStream_t);
template <class T>
void adam_table(const Adam<T>&, cudaStream_t);
template <class T>
void exercise(const Adam<T>&, cudaStream_t);  // yours

template <class T>
void step_apart(const AdamStep<T>&, cudaStream_t);
template <class T>
void step_clipped(const AdamStep<T>&, cudaStream_t);
template <class T>
void step_mixed(const AdamStep<T>&, cudaStream_t);
template <class T>
void step_bytes(const AdamBytes<T>&, cudaStream_t);

// ---- on the CPU, host pointers ----

// Loops in double, and the same on all cores.
template <class T>
void adam_reference(const Adam<T>&);
template <class T>
void adam_parallel(const Adam<T>&);
template <class T>
void step_reference(const AdamStep<T>&);
template <class T>
void step_parallel(const AdamStep<T>&);
template <class T>
void bytes_reference(const AdamBytes<T>&);
template <class T>
void bytes_parallel(const AdamBytes<T>&);

}  // namespace day53
