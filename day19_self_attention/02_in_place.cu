// SPDX-License-Identifier: MIT
//
// Weights lie where scores were, and are of the type of v: at most 1, they bear 16 bits, which scores do not. In 16 bits
// a row's weights take the first half of its scores' place. Changed since three: the softmax, and the memory, of which
// it takes half.
// Bound by: loads of q and k.

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day19_self_attention/attention.h"
#include "day19_self_attention/elements.cuh"

namespace day19 {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void scores_kernel(const Attention<T> p,
                              float* scores) {  // (heads, seq_q, seq_k)
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at < int64_t{p.heads} * p.seq_q * p.seq_k)
    scores[at] = score_of(p, at / p.seq_k, static_cast<int>(at % p.seq_k));
}

template <class T>
__global__ void __launch_bounds__(kThreads) softmax_kernel(float* scores, float* lse, int keys) {
  const int thread = static_cast<int>(threadIdx.x);
  float* x = scores + int64_t{blockIdx.x} * keys;
  float most = -INFINITY, sum = 0;
  for (int key = thread; key < keys; key += kThreads) most = fmaxf(most, x[key]);
  most = days::block_reduce(most, days::Max{}, -INFINITY);
  const float from = most == -INFINITY ? 0 : most;  // a row that sees no key
  for (int key = thread; key < keys; key += kThreads) sum += expf(x[key] - from);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  const float inverse = sum == 0 ? 0 : 1 / sum;
  T* weights = reinterpret_cast<T*>(x);
  for (int first = 0; first < keys; first += kThreads) {
    const int key = first + thread;
    const float weight = key < keys ? expf(x[key] - from) * inverse : 0;
    __syncthreads();  // all have read the scores on which these weights will lie
    if (key < keys) weights[key] = days::from_float<T>(weight);
  }
  if (thread == 0) lse[blockIdx.x] = most + logf(sum);
}

template <class T>
__global__ void values_kernel(const Attention<T> p, const float* scores) {
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= int64_t{p.heads} * p.seq_q * p.dim) return;
  const int64_t row = at / p.dim;
  const T* weights = reinterpret_cast<const T*>(scores + row * p.seq_k);
  p.o[at] = days::from_float<T>(mean_of(p, weights, row, static_cast<int>(at % p.dim)));
}

}  // namespace

template <class T>
void self_in_place(const SelfAttention<T>& p, cudaStream_t stream) {
  for_heads(p, head_bytes(p, p.seq_k, sizeof(float)), "in_place", [&](const Attention<T>& part) {
    float* scores = static_cast<float*>(p.workspace.data);
    const unsigned score_blocks = blocks_for(part, int64_t{p.seq_q} * p.seq_k, kThreads, "in_place");
    scores_kernel<T><<<score_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
    softmax_kernel<T>
        <<<blocks_for(part, p.seq_q, 1, "in_place"), kThreads, 0, stream>>>(scores, part.lse, p.seq_k);
    CUDA_CHECK_LAUNCH();
    const unsigned value_blocks = blocks_for(part, int64_t{p.seq_q} * p.dim, kThreads, "in_place");
    values_kernel<T><<<value_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(self_in_place, SelfAttention, float, days::half, days::bf16);

}  // namespace day19
