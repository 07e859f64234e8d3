// SPDX-License-Identifier: MIT
// Day 36: the problems, and the launchers that solve them. Element types fp32, fp16 and bf16; arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day36 {

// Dynamic tanh: y[row][col] = gamma[col] * tanh(alpha * x[row][col]) + beta[col]. y may be x, but may not overlap it
// otherwise.
template <class T>
struct Dyt {
  const T* x;          // (rows, cols)
  const float* alpha;  // (1)
  const T* gamma;      // (cols)
  const T* beta;       // (cols)
  T* y;                // (rows, cols)
  int rows, cols;      // positive
};

// From the loss's gradient dy with respect to y, that with respect to x, gamma, beta and alpha. With t = tanh(alpha * x)
// and bend = 1 - t^2:
//   dx = dy * gamma * bend * alpha            dalpha = sum over all elements of dy * gamma * bend * x
//   dgamma[col] = sum over the rows of dy * t        dbeta[col] = sum over the rows of dy
// dx may be x or dy itself, but may not overlap them otherwise.
template <class T>
struct DytBackward {
  const T* x;          // (rows, cols)
  const T* dy;         // (rows, cols)
  const float* alpha;  // (1)
  const T* gamma;      // (cols)
  T* dx;               // (rows, cols)
  T* dgamma;           // (cols)
  T* dbeta;            // (cols)
  float* dalpha;       // (1)
  int rows, cols;      // positive
  days::Workspace workspace;
};

// Throws unless the extents are positive and `out` is `in` or lies apart from it.
template <class T>
void require_matrices(const T* in, const T* out, int rows, int cols, const char* variant) {
  days::require(rows > 0, variant, ": rows must be positive, not", rows);
  days::require(cols > 0, variant, ": cols must be positive, not", cols);
  days::require(days::same_or_apart(in, out, int64_t{rows} * cols), variant,
                ": input and output overlap; they may be the same matrix or two apart");
}
template <class T>
void require_problem(const Dyt<T>& p, const char* variant) {
  require_matrices(p.x, p.y, p.rows, p.cols, variant);
}
// And the workspace, of which so many bytes are needed. Returns it.
template <class T>
float* require_problem(const DytBackward<T>& p, size_t needed, const char* variant) {
  require_matrices(p.x, p.dx, p.rows, p.cols, variant);
  require_matrices(p.dy, p.dx, p.rows, p.cols, variant);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<float*>(p.workspace.data);
}

template <class T>
void dyt_naive(const Dyt<T>&, cudaStream_t);
template <class T>
void dyt_columns(const Dyt<T>&, cudaStream_t);
template <class T>
void dyt_one_power(const Dyt<T>&, cudaStream_t);

template <class T>
void dyt_grad_atomic(const DytBackward<T>&, cudaStream_t);
template <class T>
void dyt_grad_tiles(const DytBackward<T>&, cudaStream_t);
template <class T>
void dyt_grad_partials(const DytBackward<T>&, cudaStream_t);
template <class T>
void dyt_grad_wide(const DytBackward<T>&, cudaStream_t);

// Yours: exercise.cu.
template <class T>
void exercise(const DytBackward<T>&, cudaStream_t);

// Tiles of backward: a block has kTileCols columns, a thread each, of one of parts_of(rows) parts of the rows.
inline constexpr int kTileCols = 128, kMaxParts = 64;
inline int parts_of(int rows) {
  return rows < kMaxParts ? rows : kMaxParts;
}
// Of grad_wide: as many parts as make enough blocks, each with 32 rows at least.
inline constexpr int kEnoughBlocks = 1024;
inline int wide_parts(int rows, int cols) {
  return std::min(days::ceil_div(rows, 32), std::max(1, kEnoughBlocks / days::ceil_div(cols, kTileCols)));
}

// Bytes of workspace that rungs of backward need. Sums over all rows, which atomic additions make: 2 * cols + 1 floats.
// Partial sums: of each part two for each column, and one of each block for alpha.
inline size_t sums_workspace(int cols) {
  return sizeof(float) * (2 * static_cast<size_t>(cols) + 1);
}
inline size_t partial_sums(int parts, int cols, int blocks) {
  return sizeof(float) * static_cast<size_t>(parts) *
         (2 * static_cast<size_t>(cols) + static_cast<size_t>(blocks));
}
inline size_t partials_workspace(int rows, int cols) {
  return partial_sums(parts_of(rows), cols, days::ceil_div(cols, kTileCols));
}
inline size_t wide_workspace(int rows, int cols) {  // a block has 32 columns at least, or all
  return partial_sums(wide_parts(rows, cols), cols, days::ceil_div(cols, 32));
}

// On the CPU, host pointers: obvious loops in double, and all cores in fp32.
template <class T>
void dyt_reference(const Dyt<T>&);
template <class T>
void dyt_parallel(const Dyt<T>&);
template <class T>
void dyt_backward_reference(const DytBackward<T>&);
template <class T>
void dyt_backward_parallel(const DytBackward<T>&);

}  // namespace day36
