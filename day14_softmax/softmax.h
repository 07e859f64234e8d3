// SPDX-License-Identifier: MIT
// Day 14: the problems and the launchers. Element types fp32, fp16 and bf16; all arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day14 {

// y[row][col] = e^x[row][col] / sum of e^x[row][...]. A row that holds a NaN or +inf, or nothing but -inf,
// becomes NaN, as in PyTorch; -inf beside a number becomes 0. y may be x itself, but may not overlap it
// otherwise.
template <class T>
struct Softmax {
  const T* x;  // (rows, cols)
  T* y;        // (rows, cols)
  int rows, cols;
};

// From the softmax y and the loss's gradient dy with respect to it, that with respect to x:
// dx[row][col] = y[row][col] * (dy[row][col] - sum of y[row][...] * dy[row][...]). dx may be y or dy itself.
template <class T>
struct SoftmaxBackward {
  const T* y;   // (rows, cols)
  const T* dy;  // (rows, cols)
  T* dx;        // (rows, cols)
  int rows, cols;
};

// Loops step over a row in 32-bit numbers, which must not overflow past its end.
inline constexpr int kMaxCols = 1 << 30;

// Throws unless the extents are positive, cols <= kMaxCols, and `out` is `in` or apart from it.
template <class T>
void require_matrices(const T* in, const T* out, int rows, int cols, const char* variant) {
  days::require(rows > 0, variant, ": rows must be positive, not", rows);
  days::require(cols > 0, variant, ": cols must be positive, not", cols);
  days::require(cols <= kMaxCols, variant, ": a row has at most 2^30 elements; cols is", cols);
  days::require(days::same_or_apart(in, out, int64_t{rows} * cols), variant,
                ": input and output overlap; they may be the same matrix or two apart");
}
template <class T>
void require_problem(const Softmax<T>& p, const char* variant) {
  require_matrices(p.x, p.y, p.rows, p.cols, variant);
}
template <class T>
void require_problem(const SoftmaxBackward<T>& p, const char* variant) {
  require_matrices(p.y, p.dx, p.rows, p.cols, variant);
  require_matrices(p.dy, p.dx, p.rows, p.cols, variant);
}

// What single launchers need beyond that. The longest row that the registers of a block hold, those of a cluster
// of eight, and two rows of a block:
inline constexpr int kMaxColsRegisters = 16384, kMaxColsCluster = 131072, kMaxColsBackward = 8192;
inline constexpr auto kColsOfRegisters =
    days::at_most("cols", kMaxColsRegisters, [](const auto& p) { return p.cols; });
inline constexpr auto kColsOfBackward =
    days::at_most("cols", kMaxColsBackward, [](const auto& p) { return p.cols; });
// A row below 4,096 would leave three quarters and more of a cluster without work.
inline constexpr auto kLeastColsOfCluster =
    days::at_least("cols", 4096, [](const auto& p) { return p.cols; });
inline constexpr auto kColsOfCluster =
    days::at_most("cols", kMaxColsCluster, [](const auto& p) { return p.cols; });

template <class T>
void softmax_naive(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_shared(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_online(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_warp(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_vectors(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_registers(const Softmax<T>&, cudaStream_t);
template <class T>
void softmax_cluster(const Softmax<T>&, cudaStream_t);

template <class T>
void softmax_grad_naive(const SoftmaxBackward<T>&, cudaStream_t);
template <class T>
void softmax_grad_warp(const SoftmaxBackward<T>&, cudaStream_t);
template <class T>
void softmax_grad_registers(const SoftmaxBackward<T>&, cudaStream_t);

// Yours: exercise.cu. Takes every shape.
template <class T>
void exercise(const Softmax<T>&, cudaStream_t);

// On the CPU, host pointers: obvious loops in double, and all cores in fp32.
template <class T>
void softmax_reference(const Softmax<T>&);
template <class T>
void softmax_parallel(const Softmax<T>&);
template <class T>
void softmax_backward_reference(const SoftmaxBackward<T>&);
template <class T>
void softmax_backward_parallel(const SoftmaxBackward<T>&);

// What the tolerances need to know, from host pointers once the reference has run: the largest difference
// from its row's maximum that has left something in y, and the size of what backward subtracts.
template <class T>
double softmax_depth(const Softmax<T>&);
template <class T>
double softmax_backward_size(const SoftmaxBackward<T>&);

}  // namespace day14
