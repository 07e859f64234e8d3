// SPDX-License-Identifier: MIT
// Day 12: the problems and the launchers. Element types fp32, fp16 and bf16; all arithmetic is in fp32.
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

namespace day12 {

// y[row][col] = (x[row][col] - mean[row]) * rstd[row] * gamma[col] + beta[col], where mean is the row's and rstd
// is 1 / sqrt(variance + eps), with the variance that divides by cols. Mean and rstd are kept for backward. A row
// that holds a NaN or an infinity becomes NaN, in all three outputs. y may be x itself, but may not overlap it
// otherwise, and no other input.
template <class T>
struct LayerNorm {
  const T* x;      // (rows, cols)
  const T* gamma;  // (cols)
  const T* beta;   // (cols)
  T* y;            // (rows, cols)
  float* mean;     // (rows)
  float* rstd;     // (rows)
  int rows, cols;
  float eps;  // not negative
};

// From the loss's gradient dy with respect to y, that with respect to x, gamma and beta. With
// xhat = (x - mean) * rstd and g = dy * gamma:
//   dx[row][col] = rstd * (g - average of the row's g - xhat * average of the row's g * xhat)
//   dgamma[col] = sum over the rows of dy * xhat        dbeta[col] = sum over the rows of dy
// dx may be x or dy itself.
template <class T>
struct LayerNormBackward {
  const T* x;         // (rows, cols)
  const T* dy;        // (rows, cols)
  const T* gamma;     // (cols)
  const float* mean;  // (rows), from forward
  const float* rstd;  // (rows), from forward
  T* dx;              // (rows, cols)
  T* dgamma;          // (cols)
  T* dbeta;           // (cols)
  int rows, cols;
  days::Workspace workspace;
};

// Welford's counts are kept in fp32, in which every whole number up to 2^24 exists: a lane of the warp that has
// a row to itself counts up to cols / 32.
inline constexpr int kMaxCols = 1 << 28;

// Throws unless the extents are positive, cols <= kMaxCols, and `out` is `in` or apart from it.
template <class T>
void require_matrices(const T* in, const T* out, int rows, int cols, const char* variant) {
  days::require(rows > 0, variant, ": rows must be positive, not", rows);
  days::require(cols > 0, variant, ": cols must be positive, not", cols);
  days::require(cols <= kMaxCols, variant, ": a row has at most 2^28 elements; cols is", cols);
  days::require(days::same_or_apart(in, out, int64_t{rows} * cols), variant,
                ": input and output overlap; they may be the same matrix or two apart");
}
template <class T>
void require_problem(const LayerNorm<T>& p, const char* variant) {
  require_matrices(p.x, p.y, p.rows, p.cols, variant);
  days::require(p.eps >= 0, variant, ": eps must be 0 or more, not", p.eps);
}
template <class T>
void require_problem(const LayerNormBackward<T>& p, const char* variant) {
  require_matrices(p.x, p.dx, p.rows, p.cols, variant);
  require_matrices(p.dy, p.dx, p.rows, p.cols, variant);
}

// What single launchers need beyond that: the longest row that a block holds in registers, alone, and beside gamma
// and beta or sums over rows.
inline constexpr int kMaxColsRegisters = 16384, kMaxColsPersistent = 8192;
inline constexpr auto kColsOfRegisters =
    days::at_most("cols", kMaxColsRegisters, [](const auto& p) { return p.cols; });
inline constexpr auto kColsOfPersistent =
    days::at_most("cols", kMaxColsPersistent, [](const auto& p) { return p.cols; });

template <class T>
void layer_norm_naive(const LayerNorm<T>&, cudaStream_t);
template <class T>
void layer_norm_shared(const LayerNorm<T>&, cudaStream_t);
template <class T>
void layer_norm_welford(const LayerNorm<T>&, cudaStream_t);
template <class T>
void layer_norm_warp(const LayerNorm<T>&, cudaStream_t);
template <class T>
void layer_norm_registers(const LayerNorm<T>&, cudaStream_t);
template <class T>
void layer_norm_persistent(const LayerNorm<T>&, cudaStream_t);

template <class T>
void layer_norm_grad_naive(const LayerNormBackward<T>&, cudaStream_t);
template <class T>
void layer_norm_grad_partials(const LayerNormBackward<T>&, cudaStream_t);
template <class T>
void layer_norm_grad_registers(const LayerNormBackward<T>&, cudaStream_t);
template <class T>
void layer_norm_grad_async(const LayerNormBackward<T>&, cudaStream_t);

// Yours: exercise.cu. Takes every shape.
template <class T>
void exercise(const LayerNorm<T>&, cudaStream_t);

// Bytes that rungs of backward need as workspace: dgamma and dbeta of a part of the rows, in fp32, for every part.
size_t grad_partials_workspace(int rows, int cols);
size_t grad_workspace(int rows, int cols);  // of grad_registers and grad_async, whose parts are blocks

// On the CPU, host pointers: obvious loops in double, and all cores in fp32.
template <class T>
void layer_norm_reference(const LayerNorm<T>&);
template <class T>
void layer_norm_parallel(const LayerNorm<T>&);
template <class T>
void layer_norm_backward_reference(const LayerNormBackward<T>&);
template <class T>
void layer_norm_backward_parallel(const LayerNormBackward<T>&);

// What the tolerances need to know, from host pointers once the reference has run: the error, in fp32 epsilons,
// that arithmetic in fp32 may make in any element of an output.
template <class T>
double error_of_y(const LayerNorm<T>&);
template <class T>
double error_of_mean(const LayerNorm<T>&);
template <class T>
double error_of_rstd(const LayerNorm<T>&);  // relative to rstd
template <class T>
double error_of_dx(const LayerNormBackward<T>&);
template <class T>
double error_of_dgamma(const LayerNormBackward<T>&);
template <class T>
double error_of_dbeta(const LayerNormBackward<T>&);

}  // namespace day12
