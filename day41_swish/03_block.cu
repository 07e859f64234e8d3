// SPDX-License-Identifier: MIT
// The block adds up what its threads have, by shuffles and shared memory (days::block_reduce), and one thread adds that to
// dbeta; 16 bytes a thread and array.
// Changed since atomic: one atomic addition for 1,024 elements in fp32, 2,048 in 16 bits. The order of the blocks is still
// nobody's, and so are dbeta's last digits.
// Bound by: memory; every thread waits at two barriers for four elements (eight), and 10 shuffles.
#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day41_swish/gradient.cuh"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) block_kernel(const SwishBackward<T> p) {
  constexpr int kEach = kOfVector<T>;
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  const float beta = *p.beta;
  float sum = 0;
  if (first + kEach <= p.n) {
    const days::Vec<T> x = days::load16(p.x + first);
    days::Vec<T> dy = days::load16(p.dy + first);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const Gradient one = gradient(days::to_float(x[i]), days::to_float(dy[i]), beta);
      dy[i] = days::from_float<T>(one.dx);
      sum += one.of_beta;
    }
    days::store16(p.dx + first, dy);
  } else {
    for (int64_t i = first; i < p.n; ++i) {
      const Gradient one = gradient(days::to_float(p.x[i]), days::to_float(p.dy[i]), beta);
      p.dx[i] = days::from_float<T>(one.dx);
      sum += one.of_beta;
    }
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);  // every thread comes here, also one without an element
  if (threadIdx.x == 0) atomicAdd(p.dbeta, sum);
}

}  // namespace

template <class T>
void swish_block(const SwishBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "block", kThreads * kOfVector<T>);
  days::require_needs(p, "block", kAlignedBackward);
  CUDA_CHECK(cudaMemsetAsync(p.dbeta, 0, sizeof(float), stream));
  block_kernel<<<blocks, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swish_block, SwishBackward, float, days::half, days::bf16);

}  // namespace day41
