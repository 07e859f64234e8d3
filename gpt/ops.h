// SPDX-License-Identifier: MIT
//
// What a training step needs beside the days' kernels and the product: rows moved, sums over rows, and gradients that are added to.
// All sums go in a fixed order. T: float or bf16, for which all are instantiated; sums and gradients of parameters are fp32.
// Arrays are device memory without gaps, aligned to their elements; a workspace is aligned to 4 bytes. Nothing waits. Sizes are positive:
// what has no elements, or more than a grid holds, throws std::invalid_argument or days::CudaError.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/types.h"
#include "day12_layer_norm/layer_norm.h"

namespace gpt {

// x[b][t] += positions[t], rows of `width` elements.
template <class T>
void add_positions(T* x, const T* positions, int batch, int seq, int width, cudaStream_t stream);

// (batch, seq, 3, heads, 64), as a product writes it, to q, k and v of (batch, heads, seq, 64), as attention reads them.
template <class T>
void split_heads(const T* qkv, T* q, T* k, T* v, int batch, int seq, int heads, cudaStream_t stream);
// (batch, heads, seq, 64) to (batch, seq, heads, 64).
template <class T>
void join_heads(const T* o, T* joined, int batch, int seq, int heads, cudaStream_t stream);

// y += x, of n elements.
template <class T>
void add_to(T* y, const T* x, size_t n, cudaStream_t stream);
// y[row][j] += bias[j]. y: (rows, cols).
template <class T>
void add_bias(T* y, const T* bias, int rows, int cols, cudaStream_t stream);
// y = gelu(z) by tanh, of n elements: what the product's kBiasGelu makes of its z.
template <class T>
void gelu(const T* z, T* y, size_t n, cudaStream_t stream);
// dy *= gelu'(z), of n elements.
template <class T>
void times_gelu_slope(T* dy, const T* z, size_t n, cudaStream_t stream);

// Day 12's backward, which writes no gradient but adds: that of x to p.dx, which is not p.x or p.dy, and the two sums over rows to
// dgamma and dbeta; p.dgamma and p.dbeta are not looked at. Rows are whole vectors of 16 bytes. The workspace is day 12's,
// day12::grad_workspace(rows, cols) bytes.
template <class T>
void add_norm_gradient(const day12::LayerNormBackward<T>& p, float* dgamma, float* dbeta,
                       cudaStream_t stream);

// gradient += x, of n elements.
template <class T>
void add_gradient(float* gradient, const T* x, size_t n, cudaStream_t stream);

// gradient[j] += the sum over the rows of x[row][j]. x: (rows, cols); workspace: row_sums_workspace(cols) bytes.
size_t row_sums_workspace(int cols);
template <class T>
void add_row_sums(float* gradient, const T* x, int rows, int cols, void* workspace, cudaStream_t stream);

// gradient[t] += the sum over b of dx[b][t], rows of `width` elements.
template <class T>
void add_position_gradient(float* gradient, const T* dx, int batch, int seq, int width, cudaStream_t stream);
// gradient[v] += the sum of dx[i] over all i with tokens[i] = v, in their order, rows of `width` elements. A token that is not 0 to
// vocab - 1 is left out. Day 73 sorts the tokens. tokens: (count); workspace: token_gradient_workspace(count, vocab) bytes.
size_t token_gradient_workspace(int count, int vocab);
template <class T>
void add_token_gradient(float* gradient, const T* dx, const int32_t* tokens, int count, int vocab, int width,
                        void* workspace, cudaStream_t stream);

// to = value, of n elements.
void fill(float* to, float value, size_t n, cudaStream_t stream);
// sum += the sum of x, in double, of n elements in an order that n alone decides.
void add_sum(double* sum, const float* x, size_t n, cudaStream_t stream);

// copy = w rounded to bf16, of n elements.
void round_weights(const float* w, days::bf16* copy, size_t n, cudaStream_t stream);

}  // namespace gpt
