// SPDX-License-Identifier: MIT
// Forward: x * s(beta * x), 16 bytes a thread. beta is read by every thread from the same address, one request a warp, which
// L1 answers.
// Bound by: memory, also in 16 bits.
#include "common/elementwise.cuh"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* x,         // (n)
                                                           const float* beta,  // (1)
                                                           T* y,               // (n)
                                                           int64_t n) {
  const float factor = *beta;
  days::map_vector(x, y, n, [factor](float v) { return v * days::sigmoid(factor * v); });
}

}  // namespace

template <class T>
void swish_vectors(const Swish<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "vectors", kThreads * kOfVector<T>);
  days::require_needs(p, "vectors", kAligned);
  vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.beta, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swish_vectors, Swish, float, days::half, days::bf16);

}  // namespace day41
