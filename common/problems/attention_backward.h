// SPDX-License-Identifier: MIT
//
// The gradients of attention (attention.h): from dout, that of o, those of q, k and v. Kernel files see the struct;
// host files also its reference, a plain version, its tolerance and its check for sizes that the reference is too
// slow for (attention_backward_cpu.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/problems/attention.h"
#include "common/util.h"
#include "common/workspace.h"

namespace days {

// Where the rows of an array lie: elements from one token, one head and one sequence to the next. The columns of a row
// lie side by side. So q, k and v may be parts of one (batch, token, 3, heads, dim) array, and their gradients too.
struct Pitches {
  int64_t token, head, batch;

  DAYS_HOST_DEVICE int64_t at(int64_t batch_at, int64_t head_at, int64_t token_at) const {
    return batch_at * batch + head_at * head + token_at * token;
  }
};

// (batch, heads, seq, dim) without gaps.
inline Pitches packed_rows(int64_t heads, int64_t seq, int64_t dim) {
  return {dim, seq * dim, heads * seq * dim};
}

// With P = e^(scale * q k^T - lse), 0 where a query does not see the key:
//   dv = P^T dout    D = row sums of dout * o    dS = P * (dout v^T - D)    dq = scale * dS k    dk = scale * dS^T q
// Query head h reads key head h / (heads / kv_heads), whose dk and dv are sums over all its query heads. A query
// without keys has lse -infinity and a dq of 0.
template <class T>
struct AttentionBackward {
  const T *q, *k, *v;         // (batch, heads, seq_q, dim), and twice (batch, kv_heads, seq_k, dim)
  const T *o, *dout;          // (batch, heads, seq_q, dim): what forward wrote, and its gradient
  const float* lse;           // (batch, heads, seq_q) without gaps: what forward wrote
  T *dq, *dk, *dv;            // as q, k, v; written only
  Pitches of_q, of_kv, of_o;  // q and dq; k, v, dk and dv; o and dout
  int batch, heads, kv_heads, seq_q, seq_k, dim;
  float scale;
  bool causal;  // as in attention.h
  Workspace workspace;
};

// What every launcher asks of its problem.
template <class T>
void require_attention_backward(const AttentionBackward<T>& p, const char* variant) {
  require_attention(Attention<T>{p.q, p.k, p.v, p.dq, nullptr, p.batch, p.heads, p.seq_q, p.seq_k, p.dim,
                                 p.scale, p.causal},
                    variant);
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0, variant,
          ": heads must be a multiple of kv_heads, which is", p.kv_heads);
}

// Blocks of a grid that has one for each `rows` of `seq` in each of `heads` heads.
inline unsigned attention_grid(int batch, int heads, int seq, int rows, const char* variant) {
  const double blocks = 1.0 * batch * heads * ceil_div(seq, rows);
  require(blocks <= static_cast<double>(kMaxGridX), variant, ": a grid has at most 2147483647 blocks, not",
          blocks);
  return static_cast<unsigned>(blocks);
}

// Whether 16 bytes may be moved at a time everywhere.
template <class T>
bool aligned_rows(const AttentionBackward<T>& p) {
  constexpr int64_t kOf16 = 16 / static_cast<int64_t>(sizeof(T));
  const auto whole = [](const Pitches& pitches) {
    return pitches.token % kOf16 == 0 && pitches.head % kOf16 == 0 && pitches.batch % kOf16 == 0;
  };
  if (!whole(p.of_q) || !whole(p.of_kv) || !whole(p.of_o)) return false;
  return aligned16(p.q, p.k, p.v, p.o, p.dout, p.dq, p.dk, p.dv);
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/attention_backward_cpu.h"
#endif
