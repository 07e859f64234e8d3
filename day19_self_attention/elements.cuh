// SPDX-License-Identifier: MIT
//
// A score and an element of o, as three writes them out.
#pragma once

#include <cstdint>

#include "common/util.h"
#include "day19_self_attention/attention.h"

namespace day19 {

// Of query `row`, counted through all heads, and a key of its head: scaled, and -infinity where the query does not see
// the key.
template <class T>
__device__ float score_of(const Attention<T>& p, int64_t row, int key) {
  const T* q = p.q + row * p.dim;
  const T* k = p.k + (row / p.seq_q * p.seq_k + key) * p.dim;
  float score = 0;
  for (int d = 0; d < p.dim; ++d) score += days::to_float(q[d]) * days::to_float(k[d]);
  const int seen = days::visible_keys(p.causal, static_cast<int>(row % p.seq_q), p.seq_q, p.seq_k);
  return key < seen ? score * p.scale : -INFINITY;
}

// Column d of the row's mean of values, by the row's weights.
template <class T>
__device__ float mean_of(const Attention<T>& p, const T* weights, int64_t row, int d) {
  const T* v = p.v + row / p.seq_q * p.seq_k * p.dim + d;
  float sum = 0;
  for (int key = 0; key < p.seq_k; ++key)
    sum += days::to_float(weights[key]) * days::to_float(v[int64_t{key} * p.dim]);
  return sum;
}

}  // namespace day19
