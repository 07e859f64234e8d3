// SPDX-License-Identifier: MIT
// Day 15: the problems, and the launchers that solve them. Element types fp32, fp16 and bf16; arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day15 {

// The gradient of y = x * P(x), where P(x) = (1 + erf(x / sqrt(2))) / 2: from dy, what the loss does when y changes, to
//   dx[i] = dy[i] * slope(x[i])   with slope(x) = P(x) + x * e^(-x^2 / 2) / sqrt(2 pi)
// A NaN and both infinities of x give NaN, as in PyTorch (inf * 0). dx may be x or dy, but may not overlap them otherwise.
template <class T>
struct GeluBackward {
  const T* x;   // (n)
  const T* dy;  // (n)
  T* dx;        // (n)
  int64_t n;    // positive
};

// Forward and backward of the same elements, in this order and as two launches, as a training step has them with all
// the other layers in between: y[i] = x[i] * P(x[i]), and dx as above. What the first leaves for the second besides x
// lies in the workspace. dx may be dy, but none of the four may overlap another otherwise.
template <class T>
struct GeluStep {
  const T* x;   // (n)
  const T* dy;  // (n)
  T* y;         // (n)
  T* dx;        // (n)
  int64_t n;    // positive
  days::Workspace workspace;
};

inline constexpr int kThreads = 256;  // of a block, in every rung

inline constexpr float kHalfRoot = 0.707106781f;  // 1 / sqrt(2)
inline constexpr float kDensity = 0.398942280f;   // 1 / sqrt(2 pi), the normal distribution's density at 0

inline constexpr auto kAligned =
    days::needs("16-byte aligned x, dy, dx", [](const auto& p) { return days::aligned16(p.x, p.dy, p.dx); });
inline constexpr auto kStepAligned = days::needs(
    "16-byte aligned x, dy, y, dx", [](const auto& p) { return days::aligned16(p.x, p.dy, p.y, p.dx); });

// The number of blocks where a thread takes `each` elements.
template <class T>
unsigned blocks_of(const GeluBackward<T>& p, const char* variant, int each) {
  const unsigned blocks = days::grid_of(p.n, int64_t{kThreads} * each, variant);
  days::require(days::same_or_apart(p.x, p.dx, p.n) && days::same_or_apart(p.dy, p.dx, p.n), variant,
                ": dx must be x, or dy, or lie apart from both");
  return blocks;
}
template <class T>
unsigned blocks_of_vectors(const GeluBackward<T>& p, const char* variant) {
  const unsigned blocks = blocks_of(p, variant, 16 / static_cast<int>(sizeof(T)));
  days::require_needs(p, variant, kAligned);
  return blocks;
}
// Bytes of workspace of a step: an element of T each is kept from forward to backward, or a byte; recompute keeps nothing.
template <class T>
size_t gelu_step_inner_workspace(const GeluStep<T>& p) {
  return sizeof(T) * static_cast<size_t>(p.n);
}
template <class T>
size_t gelu_step_slope_workspace(const GeluStep<T>& p) {
  return gelu_step_inner_workspace(p);
}
template <class T>
size_t gelu_step_byte_workspace(const GeluStep<T>& p) {
  return static_cast<size_t>(p.n);
}
// Of a step that needs so many bytes of workspace.
template <class T>
unsigned blocks_of_vectors(const GeluStep<T>& p, const char* variant, size_t needed) {
  const unsigned blocks = days::grid_of(p.n, kThreads * 16 / static_cast<int64_t>(sizeof(T)), variant);
  const auto apart = [&p](const T* a, const T* b) { return a != b && days::same_or_apart(a, b, p.n); };
  days::require(apart(p.x, p.y) && apart(p.x, p.dx) && apart(p.dy, p.y) && apart(p.y, p.dx) &&
                    days::same_or_apart(p.dy, p.dx, p.n),
                variant, ": x, dy, y and dx must lie apart, except that dx may be dy");
  days::require_needs(p, variant, kStepAligned);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return blocks;
}

// Backward alone.
template <class T>
void gelu_grad_single(const GeluBackward<T>&, cudaStream_t);
template <class T>
void gelu_grad_vectors(const GeluBackward<T>&, cudaStream_t);
template <class T>
void gelu_grad_one_power(const GeluBackward<T>&, cudaStream_t);

// Forward and backward.
template <class T>
void gelu_step_inner(const GeluStep<T>&, cudaStream_t);
template <class T>
void gelu_step_slope(const GeluStep<T>&, cudaStream_t);
template <class T>
void gelu_step_recompute(const GeluStep<T>&, cudaStream_t);
template <class T>
void exercise(const GeluStep<T>&, cudaStream_t);  // yours

// The same with the slope in a byte: code c is (c - kZeroCode) / kSteps, so that the slopes 0 and 1 are exact. The least
// slope is -0.129 and the largest 1.129, codes 0 and 252. What is no number has a code of its own.
inline constexpr int kSteps = 200, kZeroCode = 26, kNanCode = 255;
template <class T>
void gelu_step_byte(const GeluStep<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double (formulas.h), and what all cores do in fp32.
template <class T>
void gelu_backward_reference(const GeluBackward<T>&);
template <class T>
void gelu_backward_parallel(const GeluBackward<T>&);
template <class T>
void gelu_step_reference(const GeluStep<T>&);
template <class T>
void gelu_step_parallel(const GeluStep<T>&);

}  // namespace day15
