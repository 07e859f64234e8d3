// SPDX-License-Identifier: MIT
// Day 07: the problem, and the launchers that solve it. Element types fp32, fp16 and bf16.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day07 {

// y[i] = x[i] * P(a number of N(0, 1) is below x[i]), as erf has it exactly or as the usual formula with tanh
// approximates it: the ladder says which. NaN and -inf give NaN, as in PyTorch (-inf * 0), and inf gives inf. y may be
// x, but may not overlap it otherwise.
template <class T>
struct Gelu {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;   // positive
};

template <class T>
inline constexpr bool kSixteenBits = sizeof(T) == 2;

inline constexpr int kThreads = 256;  // of a block, in every rung

inline constexpr float kHalfRoot = 0.707106781f;  // 1 / sqrt(2)
// u = x * (kTanhX + kTanhX3 * x^2) is what goes into tanh: sqrt(2 / pi), and 0.044715 times that.
inline constexpr float kTanhX = 0.797884561f, kTanhX3 = 0.0356774081f;

inline constexpr auto kAligned =
    days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });

// The number of blocks where a thread takes `each` elements.
template <class T>
unsigned blocks_of(const Gelu<T>& p, const char* variant, int each) {
  const unsigned blocks = days::grid_of(p.n, int64_t{kThreads} * each, variant);
  days::require(days::same_or_apart(p.x, p.y, p.n), variant, ": y must be x or lie apart from it");
  return blocks;
}
template <class T>
unsigned blocks_of_vectors(const Gelu<T>& p, const char* variant) {
  const unsigned blocks = blocks_of(p, variant, 16 / static_cast<int>(sizeof(T)));
  days::require_needs(p, variant, kAligned);
  return blocks;
}

// Exact.
template <class T>
void gelu_erf(const Gelu<T>&, cudaStream_t);
template <class T>
void gelu_vectors(const Gelu<T>&, cudaStream_t);
template <class T>
void gelu_erfc(const Gelu<T>&, cudaStream_t);
template <class T>
void exercise(const Gelu<T>&, cudaStream_t);  // yours

// The formula with tanh, to all of its digits.
template <class T>
void gelu_tanh(const Gelu<T>&, cudaStream_t);
template <class T>
void gelu_sigmoid(const Gelu<T>&, cudaStream_t);

// The formula with tanh, by the instruction that approximates it.
template <class T>
void gelu_fast(const Gelu<T>&, cudaStream_t);
template <class T>
requires kSixteenBits<T>
void gelu_pairs(const Gelu<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double (formulas.h), and what all cores do in fp32.
template <class T>
void gelu_reference(const Gelu<T>&);
template <class T>
void gelu_tanh_reference(const Gelu<T>&);
template <class T>
void gelu_parallel(const Gelu<T>&);
template <class T>
void gelu_tanh_parallel(const Gelu<T>&);

}  // namespace day07
