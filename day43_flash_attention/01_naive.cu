// SPDX-License-Identifier: MIT
//
// A thread a query: it walks along the keys once, and never holds more than one score. The softmax is online:
// the row's largest score so far, the sum of exp(score - largest) and the weighted sum of values are kept,
// and shrunk whenever a larger score comes.
// Bound by: loads. Each multiply-add waits for an element of q or v of its own.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

constexpr int kThreads = 128;

template <class T, int kDim>
__global__ void naive_kernel(const Attention<T> p) {
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;  // among all queries of all heads
  if (at >= int64_t{p.batch} * p.heads * p.seq_q) return;
  const int keys = days::visible_keys(p.causal, static_cast<int>(at % p.seq_q), p.seq_q, p.seq_k);
  const T* q = p.q + at * kDim;
  const T* k = p.k + at / p.seq_q * p.seq_k * kDim;
  const T* v = p.v + at / p.seq_q * p.seq_k * kDim;

  float most = -INFINITY, sum = 0, o[kDim] = {};
  for (int j = 0; j < keys; ++j) {
    float score = 0;
    for (int d = 0; d < kDim; ++d) {
      const T key = k[int64_t{j} * kDim + d];
      score += days::to_float(q[d]) * days::to_float(key);
    }
    score *= p.scale;
    const float new_most = fmaxf(most, score);
    const float shrink = expf(most - new_most), weight = expf(score - new_most);
    most = new_most;
    sum = sum * shrink + weight;
#pragma unroll
    for (int d = 0; d < kDim; ++d) o[d] = o[d] * shrink + weight * days::to_float(v[int64_t{j} * kDim + d]);
  }

  const float inverse = keys == 0 ? 0 : 1 / sum;
#pragma unroll
  for (int d = 0; d < kDim; ++d) p.o[at * kDim + d] = days::from_float<T>(o[d] * inverse);
  p.lse[at] = most + logf(sum);  // no key: -infinity
}

}  // namespace

template <class T>
void attention_naive(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "naive");
  const int64_t queries = int64_t{p.batch} * p.heads * p.seq_q, blocks = days::ceil_div(queries, kThreads);
  days::require(blocks <= days::kMaxGridX, "naive: a grid has at most 2147483647 blocks, not", blocks);
  for_dim(p.dim, [&](auto dim) {
    naive_kernel<T, dim><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(attention_naive, Attention, float, days::half, days::bf16);

}  // namespace day43
