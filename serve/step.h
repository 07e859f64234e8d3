// SPDX-License-Identifier: MIT
//
// A decode step in five kernels a layer: products of few rows that read each weight once and do at their ends what else were kernels of their
// own, and attention that puts the new key and value into the pages itself. T: half or bf16. Each row's bits are the same whatever the other
// rows are. With `early` a kernel may begin before the one ahead of it has ended (common/dependent.h): it fetches its first weights, or its
// keys and values, and then waits. Nothing else waits. From compute capability 8.0 on; `early` from 9.0 on.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/types.h"
#include "serve/ops.h"

namespace serve {

// What a step begins with: take_last() and embed() of ops.h in one.
template <class T>
void begin_step(const T* tokens, const T* positions, const Rows&, const Slots&, T* x, int count, int vocab,
                int width, cudaStream_t);

// How a matrix w of (out, in) lies: as a Linear of torch has it, or as pack.h packs it.
struct Kept {
  const void* data = nullptr;   // (out, in) of T; packed: 16 bytes a lane
  const void* scale = nullptr;  // of packed
  int bits = 16;                // 4 or 8: packed
};

enum class Finish : int {
  kStore,  // y = z + bias
  kGelu,   // y = gelu(z + bias), by tanh, of what has been rounded to T
  kAdd,    // y += z + bias
  kGate,   // y = silu(gate) * up, where w has n rows of the gate, and then n of up
};

inline constexpr int kMostNormal = 3072;  // elements of a row that is normalized on the way

// z = x w^T of few rows; y or `logits` gets what `finish` makes of it.
template <class T>
struct FewRows {
  const T* x = nullptr;  // (m, k)
  const T* gamma =
      nullptr;  // (k): x's rows are normalized first, at most kMostNormal elements; null: they are not
  const T* beta = nullptr;  // (k); null: by the mean of squares alone
  float eps = 0;
  Kept w{};
  const T* bias = nullptr;  // of w's rows, or null
  T* y = nullptr;           // (m, n)
  float* logits = nullptr;  // (m, n) instead of y, with kStore
  Finish finish = Finish::kStore;
  int m = 0, n = 0, k = 0;  // k: a multiple of 8
};
template <class T>
void multiply_few(const FewRows<T>&, bool early, cudaStream_t);

// Attention is computed in parts of the context, which the last of a head's blocks adds up.
inline constexpr int kPartKeys = 256;
struct Parts {
  float* sums = nullptr;        // (rows, heads, parts, dim)
  float2* shares = nullptr;     // (rows, heads, parts)
  unsigned* tickets = nullptr;  // (rows, heads): 0 before the first launch and after each
  int parts = 0;                // of a context: its tokens / kPartKeys, rounded up
};
// append() and attend() of ops.h in one, for rows of different sequences, each at the position behind its cache. dim: 32, 64 or 128.
template <class T>
void attend_step(const Attend<T>&, const Rows&, const Slots&, const Parts&, bool early, cudaStream_t);

}  // namespace serve
