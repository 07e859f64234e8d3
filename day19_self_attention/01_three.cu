// SPDX-License-Identifier: MIT
//
// The formula as it is written, in three launches: a thread a score, a block a row's softmax, a thread an element of o.
// Scores and weights are fp32 matrices in memory.
// Bound by: loads of q and k. Lanes have neighbouring keys, whose elements lie a row apart.

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day19_self_attention/attention.h"

namespace day19 {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void scores_kernel(const Attention<T> p,
                              float* scores) {  // (heads, seq_q, seq_k)
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= int64_t{p.heads} * p.seq_q * p.seq_k) return;
  const int64_t row = at / p.seq_k;  // among the queries of all heads
  const int key = static_cast<int>(at % p.seq_k);
  const T* q = p.q + row * p.dim;
  const T* k = p.k + (row / p.seq_q * p.seq_k + key) * p.dim;
  float score = 0;
  for (int d = 0; d < p.dim; ++d) score += days::to_float(q[d]) * days::to_float(k[d]);
  const int seen = days::visible_keys(p.causal, static_cast<int>(row % p.seq_q), p.seq_q, p.seq_k);
  scores[at] = key < seen ? score * p.scale : -INFINITY;
}

__global__ void __launch_bounds__(kThreads)
    softmax_kernel(const float* scores, float* weights, float* lse, int keys) {
  const int thread = static_cast<int>(threadIdx.x);
  const float* x = scores + int64_t{blockIdx.x} * keys;
  float most = -INFINITY, sum = 0;
  for (int key = thread; key < keys; key += kThreads) most = fmaxf(most, x[key]);
  most = days::block_reduce(most, days::Max{}, -INFINITY);
  const float from = most == -INFINITY ? 0 : most;  // a row that sees no key
  for (int key = thread; key < keys; key += kThreads) sum += expf(x[key] - from);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  const float inverse = sum == 0 ? 0 : 1 / sum;
  float* weight = weights + int64_t{blockIdx.x} * keys;
  for (int key = thread; key < keys; key += kThreads) weight[key] = expf(x[key] - from) * inverse;
  if (thread == 0) lse[blockIdx.x] = most + logf(sum);
}

template <class T>
__global__ void values_kernel(const Attention<T> p,
                              const float* weights) {  // (heads, seq_q, seq_k)
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= int64_t{p.heads} * p.seq_q * p.dim) return;
  const int64_t row = at / p.dim;
  const T* v = p.v + row / p.seq_q * p.seq_k * p.dim + at % p.dim;
  float sum = 0;
  for (int key = 0; key < p.seq_k; ++key)
    sum += weights[row * p.seq_k + key] * days::to_float(v[int64_t{key} * p.dim]);
  p.o[at] = days::from_float<T>(sum);
}

}  // namespace

template <class T>
void self_three(const SelfAttention<T>& p, cudaStream_t stream) {
  for_heads(p, head_bytes(p, p.seq_k, 2 * sizeof(float)), "three", [&](const Attention<T>& part) {
    const int64_t of_head = int64_t{p.seq_q} * p.seq_k;
    float* scores = static_cast<float*>(p.workspace.data);
    float* weights = scores + part.heads * of_head;
    scores_kernel<T><<<blocks_for(part, of_head, kThreads, "three"), kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
    softmax_kernel<<<blocks_for(part, p.seq_q, 1, "three"), kThreads, 0, stream>>>(scores, weights, part.lse,
                                                                                   p.seq_k);
    CUDA_CHECK_LAUNCH();
    values_kernel<T><<<blocks_for(part, int64_t{p.seq_q} * p.dim, kThreads, "three"), kThreads, 0, stream>>>(
        part, weights);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(self_three, SelfAttention, float, days::half, days::bf16);

}  // namespace day19
