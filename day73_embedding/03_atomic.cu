// SPDX-License-Identifier: MIT
// The gradient, a thread an element of dy: many of them belong to one word, so each adds its number to that word's row atomically.
// The rows are fp32 whatever the type is, cleared before and rounded afterwards: in bf16 a sum of ones would stop at 256.
// Bound by: L2's atomic additions, one an element, which queue where rows are hot.
#include "day73_embedding/embedding.h"
#include "day73_embedding/sums.cuh"

namespace day73 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) atomic_kernel(const T* dy,            // (count, width)
                                                          const int32_t* tokens,  // (count)
                                                          float* sums,            // (vocab, width), 0 before
                                                          int64_t n, int vocab, int width, int padding) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const int32_t token = tokens[i / width];
  if (has_gradient(token, vocab, padding))
    atomicAdd(&sums[int64_t{token} * width + i % width], days::to_float(dy[i]));
}

}  // namespace

template <class T>
void embedding_atomic(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  float* const sums = cleared_sums(p, "atomic", stream);
  const int64_t n = int64_t{p.count} * p.width;
  atomic_kernel<<<days::grid_of(n, kThreads, "atomic"), kThreads, 0, stream>>>(p.dy, p.tokens, sums, n,
                                                                               p.vocab, p.width, p.padding);
  CUDA_CHECK_LAUNCH();
  round_sums(p, sums, "atomic", stream);
}

INSTANTIATE_LAUNCHER(embedding_atomic, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
