// SPDX-License-Identifier: MIT
// A thread an element: it looks up its row's token and copies one number. Neighbours copy neighbours, so no byte moves in vain, but
// each request brings 4 bytes a lane or 2, and every element asks for a token that its whole row shares.
// Bound by: requests.
#include <cmath>

#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) gather_kernel(const T* w,             // (vocab, width)
                                                          const int32_t* tokens,  // (count)
                                                          T* y,                   // (count, width)
                                                          int64_t n, int vocab, int width) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const int32_t token = tokens[i / width];
  y[i] = is_word(token, vocab) ? w[int64_t{token} * width + i % width] : days::from_float<T>(NAN);
}

}  // namespace

template <class T>
void embedding_gather(const Embedding<T>& p, cudaStream_t stream) {
  require_problem(p, "gather");
  const int64_t n = int64_t{p.count} * p.width;
  gather_kernel<<<days::grid_of(n, kThreads, "gather"), kThreads, 0, stream>>>(p.w, p.tokens, p.y, n, p.vocab,
                                                                               p.width);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(embedding_gather, Embedding, float, days::half, days::bf16);

}  // namespace day73
