// SPDX-License-Identifier: MIT
//
// Attention, o = softmax(scale * q k^T) v for each head of each sequence, which all attention days share.
// Kernel files see the struct; host files also its reference, its parallel version, its tolerance and its
// check for sizes that the reference is too slow for (attention_cpu.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/types.h"
#include "common/util.h"

namespace days {

// All arrays row-major without gaps. Where `causal`, a query sees no key that comes after it; queries are
// taken to be the last seq_q of seq_k positions (aligned at the bottom right, as FlashAttention 2 does it),
// so query i sees keys 0 ... i + seq_k - seq_q. With more queries than keys the first ones see none: their
// rows of o are 0, and their lse is -infinity.
template <class T>
struct Attention {
  const T* q;  // (batch, heads, seq_q, dim)
  const T* k;  // (batch, heads, seq_k, dim)
  const T* v;  // (batch, heads, seq_k, dim)
  T* o;        // (batch, heads, seq_q, dim), written only
  float* lse;  // (batch, heads, seq_q), written only: log(sum over keys of exp(score)), for the backward pass
  int batch, heads, seq_q, seq_k, dim;
  float scale;  // of the scores, 1 / sqrt(dim) as a rule; positive
  bool causal;
};

// What tensor cores multiply.
template <class T>
concept Half = std::is_same_v<T, days::half> || std::is_same_v<T, days::bf16>;

inline constexpr int kMaxSeq = 1 << 30;  // so that positions add up without overflow

// How many keys query `row` sees: they are keys 0, 1, ...
DAYS_HOST_DEVICE inline int visible_keys(bool causal, int row, int seq_q, int seq_k) {
  if (!causal) return seq_k;
  const int keys = row + 1 + seq_k - seq_q;
  return keys <= 0 ? 0 : keys < seq_k ? keys : seq_k;
}

// What every launcher asks of its problem.
template <class T>
void require_attention(const Attention<T>& p, const char* variant) {
  require(p.batch > 0, variant, ": batch must be positive, not", p.batch);
  require(p.heads > 0, variant, ": heads must be positive, not", p.heads);
  require(p.seq_q > 0 && p.seq_q <= kMaxSeq, variant, ": seq_q must be 1 to 2^30, not", p.seq_q);
  require(p.seq_k > 0 && p.seq_k <= kMaxSeq, variant, ": seq_k must be 1 to 2^30, not", p.seq_k);
  require(p.dim == 64 || p.dim == 128, variant, ": the head dimension is 64 or 128, not", p.dim);
  require(p.scale > 0 && p.scale < 1e30f, variant, ": scale must be positive and finite, not", p.scale);
}

// Blocks of a grid that has one for each `rows` queries of a head; throws where that is more than a grid has.
template <class T>
unsigned attention_blocks(const Attention<T>& p, int rows, const char* variant) {
  const double blocks = 1.0 * p.batch * p.heads * ceil_div(p.seq_q, rows);
  require(blocks <= static_cast<double>(kMaxGridX), variant, ": a grid has at most 2147483647 blocks, not",
          blocks);
  return static_cast<unsigned>(blocks);
}

// A head's dimension as a compile-time constant: calls launch(std::integral_constant<int, 64 or 128>).
template <class Launch>
void for_dim(int dim, const Launch& launch) {
  if (dim == 64) return launch(std::integral_constant<int, 64>{});
  return launch(std::integral_constant<int, 128>{});
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/attention_cpu.h"
#endif
