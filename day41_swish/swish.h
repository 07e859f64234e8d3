// SPDX-License-Identifier: MIT
// Day 41: the problems, and the launchers that solve them. Element types fp32, fp16 and bf16; beta and its gradient are fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day41 {

// y[i] = x[i] * s(beta * x[i]), where s(u) = 1 / (1 + e^-u). beta is a parameter that is learned, and so it lies in the
// device's memory. Any beta is right: NaN gives NaN, 0 gives x / 2, infinity gives x or 0, and NaN for x = 0. y may be x, but
// may not overlap it otherwise.
template <class T>
struct Swish {
  const T* x;         // (n)
  const float* beta;  // (1)
  T* y;               // (n)
  int64_t n;          // positive
};

// From dy, with u = beta * x[i]:
//   dx[i] = dy[i] * s(u) * (1 + u * s(-u))        dbeta[0] = sum of dy[i] * x[i]^2 * s(u) * s(-u)
// Where u is infinite dx is dy or 0, its limit. dx may be x or dy.
template <class T>
struct SwishBackward {
  const T* x;         // (n)
  const T* dy;        // (n)
  const float* beta;  // (1)
  T* dx;              // (n)
  float* dbeta;       // (1)
  int64_t n;          // positive
  days::Workspace workspace;
  days::Setup setup;
};

inline constexpr int kThreads = 256;  // of a block, in every rung
template <class T>
inline constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));

// stages and ticket: vectors that a thread takes of each array, and elements of a block.
inline constexpr int kTurns = 8;
template <class T>
inline constexpr int kTile = kTurns* kThreads* kOfVector<T>;

// What ticket's workspace begins with.
struct Scratch {
  unsigned ticket;  // 0 before the first launch, and after each
  unsigned unused[3];
  // The blocks' sums follow.
};

inline constexpr auto kAligned =
    days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });
inline constexpr auto kAlignedBackward =
    days::needs("16-byte aligned x, dy, dx", [](const auto& p) { return days::aligned16(p.x, p.dy, p.dx); });
// One sum of fp32 that grows an element at a time is off by a thousandth soon after, and at last stands still (programs/order.cu).
inline constexpr auto kFewElements = days::at_most("n", 1 << 20, [](const auto& p) { return p.n; });

// The number of blocks where a block takes `tile` elements.
template <class T>
unsigned blocks_of(const Swish<T>& p, const char* variant, int tile) {
  const unsigned blocks = days::grid_of(p.n, tile, variant);
  days::require(days::same_or_apart(p.x, p.y, p.n), variant, ": y must be x or lie apart from it");
  return blocks;
}
template <class T>
unsigned blocks_of(const SwishBackward<T>& p, const char* variant, int tile) {
  const unsigned blocks = days::grid_of(p.n, tile, variant);
  days::require(days::same_or_apart(p.x, p.dx, p.n) && days::same_or_apart(p.dy, p.dx, p.n), variant,
                ": dx must be x or dy, or lie apart from both");
  return blocks;
}

template <class T>
void swish_vectors(const Swish<T>&, cudaStream_t);

template <class T>
void swish_atomic(const SwishBackward<T>&, cudaStream_t);
template <class T>
void swish_block(const SwishBackward<T>&, cudaStream_t);
template <class T>
void swish_stages(const SwishBackward<T>&, cudaStream_t);
template <class T>
void swish_ticket(const SwishBackward<T>&, cudaStream_t);
template <class T>
void exercise(const SwishBackward<T>&, cudaStream_t);  // yours

// Bytes of workspace of stages: a partial sum for each of its blocks; and of ticket, which counts them, too.
template <class T>
size_t stages_workspace(const SwishBackward<T>& p) {
  return sizeof(float) * static_cast<size_t>(days::ceil_div(p.n, int64_t{kTile<T>}));
}
template <class T>
size_t ticket_workspace(const SwishBackward<T>& p) {
  return sizeof(Scratch) + stages_workspace(p);
}
// Sets ticket's count to 0, which each launch leaves so again.
struct Ticket {};
template <class T>
Ticket swish_ticket_setup(const SwishBackward<T>& p, cudaStream_t stream) {
  const size_t bytes = ticket_workspace(p);
  days::require(p.workspace.bytes >= bytes, "ticket: needs a workspace of bytes:", bytes);
  CUDA_CHECK(cudaMemsetAsync(p.workspace.data, 0, sizeof(Scratch), stream));
  return {};
}

// On the CPU, host pointers: the truth in double (formulas.h), and what all cores do in fp32.
template <class T>
void swish_reference(const Swish<T>&);
template <class T>
void swish_parallel(const Swish<T>&);
template <class T>
void swish_backward_reference(const SwishBackward<T>&);
template <class T>
void swish_backward_parallel(const SwishBackward<T>&);
// What the tolerance of dbeta needs to know: the sum of what is added up, without signs, where it is finite.
template <class T>
double sum_of_sizes(const SwishBackward<T>&);

}  // namespace day41
