// SPDX-License-Identifier: MIT
// Day 38: the problem and the launchers. Element types fp32, fp16 and bf16; sums are in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day38 {

// Forward and backward of the same rows, in this order and as two launches, as a training step has them with all the
// other layers in between: norm[row] = sum of the row's |x|, and from the loss's gradient dnorm with respect to that
//   dx[row][col] = dnorm[row] * sign(x[row][col]),   sign(0) = sign(-0) = 0, sign(NaN) = NaN
// What the first launch leaves for the second besides x lies in the workspace, in an order of the rung's own.
template <class T>
struct L1Norm {
  const T* x;          // (rows, cols)
  float* norm;         // (rows)
  const float* dnorm;  // (rows)
  T* dx;               // (rows, cols), apart from x
  int rows, cols;
  days::Workspace workspace;
};

// Loops step over a row in 32-bit numbers, which must not overflow past its end.
inline constexpr int kMaxCols = 1 << 30;

// Throws unless the extents are positive, cols <= kMaxCols, x and dx lie apart, and the workspace has `needed` bytes.
template <class T>
void require_problem(const L1Norm<T>& p, const char* variant, size_t needed) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  days::require(p.cols <= kMaxCols, variant, ": a row has at most 2^30 elements; cols is", p.cols);
  days::require(p.x != p.dx && days::same_or_apart(p.x, p.dx, int64_t{p.rows} * p.cols), variant,
                ": x and dx must lie apart");
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
}

// Bytes of workspace: an element's code in a byte; two words for each 32 elements of a row; a word for each 16 elements
// that a thread has.
template <class T>
size_t l1_norm_bytes_workspace(const L1Norm<T>& p) {
  return static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols);
}
template <class T>
size_t l1_norm_ballots_workspace(const L1Norm<T>& p) {
  return static_cast<size_t>(p.rows) * static_cast<size_t>(days::ceil_div(p.cols, 32)) * 8;
}
inline constexpr int kOwn = 16;  // elements of a word
// Threads of a row in own_bits: 16 elements each hold it, or 256 go over it in turns.
constexpr int own_threads(int cols) {
  return cols <= 32 * kOwn ? 32 : cols <= 128 * kOwn ? 128 : 256;
}
template <class T>
size_t l1_norm_own_bits_workspace(const L1Norm<T>& p) {
  const int threads = own_threads(p.cols);
  return static_cast<size_t>(p.rows) * static_cast<size_t>(days::ceil_div(p.cols, threads * kOwn) * threads) *
         4;
}

template <class T>
void l1_norm_again(const L1Norm<T>&, cudaStream_t);
template <class T>
void l1_norm_bytes(const L1Norm<T>&, cudaStream_t);
template <class T>
void l1_norm_ballots(const L1Norm<T>&, cudaStream_t);
template <class T>
void l1_norm_own_bits(const L1Norm<T>&, cudaStream_t);

// Yours: exercise.cu. Takes every shape, and the workspace of ballots.
template <class T>
void exercise(const L1Norm<T>&, cudaStream_t);

// On the CPU, host pointers: obvious loops in double, and all cores.
template <class T>
void l1_norm_reference(const L1Norm<T>&);
template <class T>
void l1_norm_parallel(const L1Norm<T>&);

}  // namespace day38
