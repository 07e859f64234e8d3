// SPDX-License-Identifier: MIT
// Day 37: the problems and the launchers. Element types fp32, fp16 and bf16; all arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day37 {

// norm[row] = sqrt(sum of the row's x^2), y[row][col] = x[row][col] / max(norm[row], eps). Right for every row of
// finite x: where the norm is beyond fp32, norm is inf and y is still right. A row with a NaN is NaN; in a row with
// an infinity norm is inf, y NaN at the infinity and 0 elsewhere. y may be x itself.
template <class T>
struct L2Normalize {
  const T* x;   // (rows, cols)
  T* y;         // (rows, cols)
  float* norm;  // (rows)
  int rows, cols;
  float eps;  // positive
};

// From y, forward's norm and the loss's gradient dy, that with respect to x. With s = sum of the row's y * dy:
//   dx = (dy - y * s) / norm      where norm > eps, or is NaN
//   dx = dy / eps                 else: there the divisor is a constant
// A norm of inf gives 0. dx may be y or dy itself.
template <class T>
struct L2NormalizeBackward {
  const T* y;         // (rows, cols)
  const T* dy;        // (rows, cols)
  const float* norm;  // (rows)
  T* dx;              // (rows, cols)
  int rows, cols;
  float eps;  // positive, forward's
};

// A sum of so many squares that are below 2^104 stays below fp32's end (three).
inline constexpr int kMaxCols = 1 << 23;

// Throws unless the extents are positive, cols <= kMaxCols, eps > 0, and `out` is `in` or apart from it.
template <class T>
void require_matrices(const T* in, const T* out, int rows, int cols, float eps, const char* variant) {
  days::require(rows > 0, variant, ": rows must be positive, not", rows);
  days::require(cols > 0, variant, ": cols must be positive, not", cols);
  days::require(cols <= kMaxCols, variant, ": a row has at most 2^23 elements; cols is", cols);
  days::require(eps > 0, variant, ": eps must be positive, not", eps);
  days::require(days::same_or_apart(in, out, int64_t{rows} * cols), variant,
                ": input and output overlap; they may be the same matrix or two apart");
}
template <class T>
void require_problem(const L2Normalize<T>& p, const char* variant) {
  require_matrices(p.x, p.y, p.rows, p.cols, p.eps, variant);
}
template <class T>
void require_problem(const L2NormalizeBackward<T>& p, const char* variant) {
  require_matrices(p.y, p.dx, p.rows, p.cols, p.eps, variant);
  require_matrices(p.dy, p.dx, p.rows, p.cols, p.eps, variant);
}

// The longest row that the registers of a block hold, and two of them.
inline constexpr int kMaxColsRegisters = 16384, kMaxColsBackward = 8192;
inline constexpr auto kColsOfRegisters =
    days::at_most("cols", kMaxColsRegisters, [](const auto& p) { return p.cols; });
inline constexpr auto kColsOfBackward =
    days::at_most("cols", kMaxColsBackward, [](const auto& p) { return p.cols; });

template <class T>
void l2_norm_largest(const L2Normalize<T>&, cudaStream_t);
template <class T>
void l2_norm_three(const L2Normalize<T>&, cudaStream_t);
template <class T>
void l2_norm_registers(const L2Normalize<T>&, cudaStream_t);
template <class T>
void l2_norm_exponent(const L2Normalize<T>&, cudaStream_t);

template <class T>
void l2_norm_grad_twice(const L2NormalizeBackward<T>&, cudaStream_t);
template <class T>
void l2_norm_grad_registers(const L2NormalizeBackward<T>&, cudaStream_t);

// Yours: exercise.cu. Takes every shape.
template <class T>
void exercise(const L2Normalize<T>&, cudaStream_t);

// On the CPU, host pointers: obvious loops in double, and all cores.
template <class T>
void l2_norm_reference(const L2Normalize<T>&);
template <class T>
void l2_norm_parallel(const L2Normalize<T>&);
template <class T>
void l2_norm_backward_reference(const L2NormalizeBackward<T>&);
template <class T>
void l2_norm_backward_parallel(const L2NormalizeBackward<T>&);

// For the tolerance, from host pointers: the size of what backward subtracts and divides, in the row where it is
// largest.
template <class T>
double l2_norm_backward_size(const L2NormalizeBackward<T>&);

}  // namespace day37
