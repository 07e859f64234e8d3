// SPDX-License-Identifier: MIT
// Day 12: RMS norm, which is layer norm without a mean: the problem and the launchers. Element types fp32, fp16 and bf16; sums in fp32.
#pragma once

#include <cuda_runtime.h>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {

// y[row][col] = rounded(x[row][col] * rstd) * gamma[col] with rstd = 1 / sqrt(the mean of the row's squares + eps). In 16 bits x * rstd is
// rounded before gamma comes, and the product again, because Llama's models were trained so. Rstd is kept for backward. A row that
// holds a NaN becomes NaN; an infinity makes rstd 0, itself NaN and all else in its row 0. The row's squares have to add up in fp32. y may
// be x itself, but may not overlap it otherwise, nor gamma.
template <class T>
struct RmsNorm {
  const T* x;      // (rows, cols)
  const T* gamma;  // (cols)
  T* y;            // (rows, cols)
  float* rstd;     // (rows), or null: nobody wants it
  int rows, cols;
  float eps;  // not negative
};

template <class T>
void require_problem(const RmsNorm<T>& p, const char* variant) {
  require_matrices(p.x, p.y, p.rows, p.cols, variant);
  days::require(p.eps >= 0, variant, ": eps must be 0 or more, not", p.eps);
}

// rms_registers takes rows of whole 16 bytes, of which a block's registers hold one.
inline constexpr auto kWholeRows = days::needs("x, gamma, y and rows aligned to 16 bytes", [](const auto& p) {
  return days::aligned16(p.x, p.gamma, p.y) && p.cols * sizeof(*p.x) % 16 == 0;
});

// A row's bits are the same whatever the other rows are, and however many.
template <class T>
void rms_norm_warp(const RmsNorm<T>&, cudaStream_t);
template <class T>
void rms_norm_registers(const RmsNorm<T>&, cudaStream_t);

// On the CPU, host pointers: obvious loops in double, and all cores in fp32.
template <class T>
void rms_norm_reference(const RmsNorm<T>&);
template <class T>
void rms_norm_parallel(const RmsNorm<T>&);

}  // namespace day12
