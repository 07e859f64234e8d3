// SPDX-License-Identifier: MIT
//
// Exercise: half of the memory. Weights of type T go where the fp32 scores of their row are.
// Gates: every element right for every shape; no race; three launches; at most 800,000 bytes of workspace written
// for 131,072 scores (three writes 1,048,576).
//   ./days check 19     tells how far you are        ./days hint 19     when you are stuck

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

// A block has a row. The largest score and the sum are found; the rest is yours.
template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(float* scores, float* lse, int keys) {
  const int thread = static_cast<int>(threadIdx.x);
  float* x = scores + int64_t{blockIdx.x} * keys;
  float most = -INFINITY, sum = 0;
  for (int key = thread; key < keys; key += kThreads) most = fmaxf(most, x[key]);
  most = days::block_reduce(most, days::Max{}, -INFINITY);
  const float from = most == -INFINITY ? 0 : most;  // a row that sees no key
  for (int key = thread; key < keys; key += kThreads) sum += expf(x[key] - from);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (thread == 0) lse[blockIdx.x] = most + logf(sum);
  // Write the row's weights, expf(x[key] - from) / sum, as elements of type T from x on. A row that sees no key has the
  // weights 0. In 16 bits weights 0 and 1 lie on score 0, weights 2 and 3 on score 1: who still needs these scores?
  // your code
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
void exercise(const SelfAttention<T>& p, cudaStream_t stream) {
  for_heads(p, head_bytes(p, p.seq_k, sizeof(float)), "exercise", [&](const Attention<T>& part) {
    float* scores = static_cast<float*>(p.workspace.data);
    const unsigned score_blocks = blocks_for(part, int64_t{p.seq_q} * p.seq_k, kThreads, "exercise");
    scores_kernel<T><<<score_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
    exercise_kernel<T>
        <<<blocks_for(part, p.seq_q, 1, "exercise"), kThreads, 0, stream>>>(scores, part.lse, p.seq_k);
    CUDA_CHECK_LAUNCH();
    const unsigned value_blocks = blocks_for(part, int64_t{p.seq_q} * p.dim, kThreads, "exercise");
    values_kernel<T><<<value_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, SelfAttention, float, days::half, days::bf16);

}  // namespace day19
