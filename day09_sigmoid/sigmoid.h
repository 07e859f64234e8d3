// SPDX-License-Identifier: MIT
// Day 09: the problems, and the launchers that solve them. Element types fp32, fp16 and bf16.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day09 {

// y[i] = s(x[i]), where s(x) = 1 / (1 + e^-x). NaN gives NaN, -inf gives 0 and inf gives 1. y may be x, but may not overlap
// it otherwise. In fp32 and bf16 a result below the least normal number, 2^-126, may be 0.
template <class T>
struct Sigmoid {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;   // positive
};

// dx[i] = dy[i] * s'(x[i]), where s'(x) = s(x) * s(-x) = s(x) * (1 - s(x)). dx may be x or dy. Beyond 104 either way s'
// is 0 in fp32, so that an infinite dy gives NaN there.
template <class T>
struct SigmoidBackward {
  const T* x;   // (n)
  const T* dy;  // (n)
  T* dx;        // (n)
  int64_t n;    // positive
};

// The same from what forward has written: dx[i] = dy[i] * y[i] * (1 - y[i]). y is 0 to 1, or NaN. dx may be y or dy.
template <class T>
struct SigmoidBackwardY {
  const T* y;   // (n)
  const T* dy;  // (n)
  T* dx;        // (n)
  int64_t n;    // positive
};

template <class T>
inline constexpr bool kSixteenBits = sizeof(T) == 2;

inline constexpr int kThreads = 256;  // of a block, in every rung
inline constexpr float kLog2e = 1.44269504f;

inline constexpr auto kAligned =
    days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });
inline constexpr auto kAlignedBackward =
    days::needs("16-byte aligned x, dy, dx", [](const auto& p) { return days::aligned16(p.x, p.dy, p.dx); });
inline constexpr auto kAlignedBackwardY =
    days::needs("16-byte aligned y, dy, dx", [](const auto& p) { return days::aligned16(p.y, p.dy, p.dx); });

// The number of blocks where a thread takes `each` elements.
template <class T>
unsigned blocks_of(const Sigmoid<T>& p, const char* variant, int each) {
  const unsigned blocks = days::grid_of(p.n, int64_t{kThreads} * each, variant);
  days::require(days::same_or_apart(p.x, p.y, p.n), variant, ": y must be x or lie apart from it");
  return blocks;
}
template <class T>
unsigned blocks_of(const SigmoidBackward<T>& p, const char* variant, int each) {
  const unsigned blocks = days::grid_of(p.n, int64_t{kThreads} * each, variant);
  days::require(days::same_or_apart(p.x, p.dx, p.n) && days::same_or_apart(p.dy, p.dx, p.n), variant,
                ": dx must be x or dy, or lie apart from both");
  return blocks;
}
template <class T>
unsigned blocks_of(const SigmoidBackwardY<T>& p, const char* variant, int each) {
  const unsigned blocks = days::grid_of(p.n, int64_t{kThreads} * each, variant);
  days::require(days::same_or_apart(p.y, p.dx, p.n) && days::same_or_apart(p.dy, p.dx, p.n), variant,
                ": dx must be y or dy, or lie apart from both");
  return blocks;
}
// The same where a thread takes the elements of 16 bytes.
template <class T>
inline constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));

// All digits.
template <class T>
void sigmoid_naive(const Sigmoid<T>&, cudaStream_t);
template <class T>
void sigmoid_vectors(const Sigmoid<T>&, cudaStream_t);
template <class T>
void sigmoid_tails(const Sigmoid<T>&, cudaStream_t);

// What -use_fast_math makes of it: far left of 0 a third of the digits is lost.
template <class T>
void sigmoid_fast(const Sigmoid<T>&, cudaStream_t);

// By the instruction for tanh: right to 2^-12 of 1.
template <class T>
void sigmoid_tanh(const Sigmoid<T>&, cudaStream_t);
template <class T>
requires kSixteenBits<T>
void sigmoid_pairs(const Sigmoid<T>&, cudaStream_t);

template <class T>
void sigmoid_grad_naive(const SigmoidBackward<T>&, cudaStream_t);
template <class T>
void sigmoid_grad_even(const SigmoidBackward<T>&, cudaStream_t);
template <class T>
void exercise(const SigmoidBackward<T>&, cudaStream_t);  // yours

template <class T>
void sigmoid_grad_from_y(const SigmoidBackwardY<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double (formulas.h), and what all cores do in fp32.
template <class T>
void sigmoid_reference(const Sigmoid<T>&);
template <class T>
void sigmoid_parallel(const Sigmoid<T>&);
template <class T>
void sigmoid_backward_reference(const SigmoidBackward<T>&);
template <class T>
void sigmoid_backward_parallel(const SigmoidBackward<T>&);
template <class T>
void sigmoid_backward_y_reference(const SigmoidBackwardY<T>&);
template <class T>
void sigmoid_backward_y_parallel(const SigmoidBackwardY<T>&);

}  // namespace day09
