// SPDX-License-Identifier: MIT
// Day 44: SwiGLU, GeGLU with another gate: the problems and the launchers. Element types fp32, fp16 and bf16; arithmetic in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/instantiate.h"
#include "common/types.h"
#include "day44_gegelu/gegelu.h"

namespace day44 {

// Halves side by side, as GeGLU has them: y[row][col] = silu(gate) * value with gate = x[row][col], value = x[row][cols + col], and
// silu(g) = g / (1 + e^-g). A gate of NaN or -inf gives NaN, as in PyTorch.
template <class T>
struct Swiglu {
  const T* x;          // (rows, 2 * cols)
  T* y;                // (rows, cols), apart from x
  int64_t rows, cols;  // positive
};

// From dy, the loss's gradient with respect to y, that with respect to x, in x's layout:
//   of the gate   dy * value * silu'(gate)      of the value   dy * silu(gate)
// At an infinite gate silu' is its limit, 0 or 1. dx may be x itself.
template <class T>
struct SwigluBackward {
  const T* x;          // (rows, 2 * cols)
  const T* dy;         // (rows, cols)
  T* dx;               // (rows, 2 * cols)
  int64_t rows, cols;  // positive
};

// Both take every shape and address: 16 bytes at a time where all halves of rows are aligned to them, else one element.
template <class T>
void swiglu(const Swiglu<T>&, cudaStream_t);
template <class T>
void swiglu_grad(const SwigluBackward<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double, and what all cores do in fp32.
template <class T>
void swiglu_reference(const Swiglu<T>&);
template <class T>
void swiglu_parallel(const Swiglu<T>&);
template <class T>
void swiglu_backward_reference(const SwigluBackward<T>&);
template <class T>
void swiglu_backward_parallel(const SwigluBackward<T>&);

}  // namespace day44
