// SPDX-License-Identifier: MIT
// Day 44: a gate and a value make one output, and the input has them in one of two layouts. The problems, and the
// launchers that solve them. Element types fp32, fp16 and bf16; all arithmetic is in fp32.
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

namespace day44 {

// Halves side by side (GeGLU). y[row][col] = gelu(gate) * value with gate = x[row][col], value = x[row][cols + col], and
// GELU by the formula with tanh. A gate of NaN or -inf gives NaN, as in PyTorch (-inf * 0).
template <class T>
struct Geglu {
  const T* x;          // (rows, 2 * cols)
  T* y;                // (rows, cols), apart from x
  int64_t rows, cols;  // positive
  days::Workspace workspace;
};

// Interleaved pairs, clamped (Phi-3's GeGELU). y[i] = quick(gate) * (value + 1) with gate = x[2 i], value = x[2 i + 1], and
// quick(g) = g / (1 + e^(-1.702 g)). A finite gate above `limit` counts as limit; a finite value beyond limit either way
// as limit or -limit. Infinities and NaN stay as they are.
template <class T>
struct Gegelu {
  const T* x;          // (rows, cols, 2)
  T* y;                // (rows, cols), apart from x
  int64_t rows, cols;  // positive
  float limit;         // positive; inf: nothing is clamped
};

// From dy, the loss's gradient with respect to y, that with respect to x, in x's layout:
//   of the gate   dy * value * gelu'(gate)      of the value   dy * gelu(gate)
// At an infinite gate gelu' is its limit, 0 or 1. dx may be x itself.
template <class T>
struct GegluBackward {
  const T* x;          // (rows, 2 * cols)
  const T* dy;         // (rows, cols)
  T* dx;               // (rows, 2 * cols)
  int64_t rows, cols;  // positive
};
// The same of Gegelu, with value + 1 for value, both clamped, and quick for gelu. What was clamped has the gradient 0; a
// gate or value that equals the limit was not.
template <class T>
struct GegeluBackward {
  const T* x;          // (rows, cols, 2)
  const T* dy;         // (rows, cols)
  T* dx;               // (rows, cols, 2)
  int64_t rows, cols;  // positive
  float limit;         // positive
};

inline constexpr int kThreads = 256;  // of a block, in every rung

template <class P>
void require_extents(const P& p, const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  if constexpr (requires { p.limit; })
    days::require(p.limit > 0, variant, ": limit must be positive, not", p.limit);
}
// What of the input and the output may not overlap.
template <class T>
bool apart(const T* x, int64_t of_x, const T* y, int64_t of_y) {
  const auto first = reinterpret_cast<uintptr_t>(x), second = reinterpret_cast<uintptr_t>(y);
  return first + sizeof(T) * static_cast<uintptr_t>(of_x) <= second ||
         second + sizeof(T) * static_cast<uintptr_t>(of_y) <= first;
}
template <class P>
void require_arrays(const P& p, const char* variant) {
  const int64_t n = p.rows * p.cols;
  if constexpr (requires { p.dx; }) {
    days::require(days::same_or_apart(p.x, p.dx, 2 * n), variant, ": dx must be x or lie apart from it");
    days::require(apart(p.dx, 2 * n, p.dy, n), variant, ": dx may not overlap dy");
  } else {
    days::require(apart(p.x, 2 * n, p.y, n), variant, ": y may not overlap x, of which it has half the size");
  }
}

// The blocks where each thread takes `each` outputs of one row, so that no block goes from a row into the next: block b
// has the part b % parts of row b / parts.
struct RowBlocks {
  unsigned parts, blocks;
};
template <class P>
RowBlocks blocks_of_rows(const P& p, const char* variant, int each) {
  require_extents(p, variant);
  const int64_t parts = days::ceil_div(p.cols, int64_t{kThreads} * each);
  days::require(parts <= days::kMaxGridX / p.rows, variant, ": too large for one grid, rows", p.rows,
                ", cols", p.cols);
  require_arrays(p, variant);
  return {static_cast<unsigned>(parts), static_cast<unsigned>(parts * p.rows)};
}
// The blocks where each thread takes `each` outputs of all rows * cols: pairs know no rows.
template <class P>
unsigned blocks_of_pairs(const P& p, const char* variant, int each) {
  require_extents(p, variant);
  const int64_t most = int64_t{days::kMaxGridX} * kThreads * each;
  days::require(p.cols <= most / p.rows, variant, ": too large for one grid, rows", p.rows, ", cols", p.cols);
  require_arrays(p, variant);
  return static_cast<unsigned>(days::ceil_div(p.rows * p.cols, int64_t{kThreads} * each));
}

// 16 bytes at a time every row of x and y, and the second half of each row, has to begin at a multiple of 16 bytes.
inline constexpr auto kAlignedHalves =
    days::needs("x, y and halves of rows aligned to 16 bytes",
                [](const auto& p) { return days::aligned16(p.x, p.x + p.cols, p.y); });
inline constexpr auto kAlignedGradHalves =
    days::needs("x, dy, dx and halves of rows aligned to 16 bytes",
                [](const auto& p) { return days::aligned16(p.x, p.x + p.cols, p.dy, p.dx); });
// A pair of two floats has 8 bytes, of 16 bits 4.
template <class T>
bool aligned_pairs(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % (2 * sizeof(T)) == 0;
}
inline constexpr auto kAlignedPairs =
    days::needs("x aligned to a pair", [](const auto& p) { return aligned_pairs(p.x); });
// Pairs are loaded 16 bytes at a time; of outputs that are 8.
template <class T>
bool aligned8(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % 8 == 0;
}
inline constexpr auto kAligned = days::needs(
    "x aligned to 16 bytes, y to 8", [](const auto& p) { return days::aligned16(p.x) && aligned8(p.y); });
inline constexpr auto kAlignedGrad = days::needs("x, dx aligned to 16 bytes, dy to 8", [](const auto& p) {
  return days::aligned16(p.x, p.dx) && aligned8(p.dy);
});

// Halves.
template <class T>
size_t unfused_workspace(const Geglu<T>& p) {
  return sizeof(T) * static_cast<size_t>(p.rows * p.cols);
}
template <class T>
void geglu_unfused(const Geglu<T>&, cudaStream_t);
template <class T>
void geglu_fused(const Geglu<T>&, cudaStream_t);
template <class T>
void geglu_halves(const Geglu<T>&, cudaStream_t);

// Pairs.
template <class T>
void gegelu_strided(const Gegelu<T>&, cudaStream_t);
template <class T>
void gegelu_pairs(const Gegelu<T>&, cudaStream_t);
template <class T>
void gegelu_vectors(const Gegelu<T>&, cudaStream_t);
template <class T>
void exercise(const Gegelu<T>&, cudaStream_t);  // yours

// Backward.
template <class T>
void geglu_grad_fused(const GegluBackward<T>&, cudaStream_t);
template <class T>
void geglu_grad_halves(const GegluBackward<T>&, cudaStream_t);
template <class T>
void gegelu_grad_strided(const GegeluBackward<T>&, cudaStream_t);
template <class T>
void gegelu_grad_vectors(const GegeluBackward<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double, and what all cores do in fp32.
template <class T>
void geglu_reference(const Geglu<T>&);
template <class T>
void geglu_parallel(const Geglu<T>&);
template <class T>
void gegelu_reference(const Gegelu<T>&);
template <class T>
void gegelu_parallel(const Gegelu<T>&);
template <class T>
void geglu_backward_reference(const GegluBackward<T>&);
template <class T>
void geglu_backward_parallel(const GegluBackward<T>&);
template <class T>
void gegelu_backward_reference(const GegeluBackward<T>&);
template <class T>
void gegelu_backward_parallel(const GegeluBackward<T>&);

}  // namespace day44
