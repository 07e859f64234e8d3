// SPDX-License-Identifier: MIT
//
// Exercise: swish's two gradients, with one atomic addition a block instead of one an element.
// Gates: every element and dbeta right for every n, beta and the hostile values; no race; the sectors that atomic additions
// touch are at most a fiftieth of the input's (rung atomic: an eighth, for a warp's 32 floats of x and dy are 8 sectors).
//   ./days check 41      tells how far you are        ./days hint 41      when you are stuck
#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day41_swish/gradient.cuh"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const SwishBackward<T> p) {
  // gradient(x, dy, beta) is {dx, of_beta} of one element, in fp32.
  // 1. A thread takes kOfVector<T> elements: days::load16, days::store16. Which is its first? Fewer at the end, one by one.
  // 2. It adds up their of_beta.
  // 3. days::block_reduce(sum, days::Sum{}, 0.0f) is the sum over the block, in every thread. Who has to call it?
  // 4. One atomicAdd of the block's sum to dbeta, which holds anything when the launcher is called. Before the launch:
  //    CUDA_CHECK(cudaMemsetAsync(p.dbeta, 0, sizeof(float), stream));
  // your code
}

}  // namespace

template <class T>
void exercise(const SwishBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "exercise", kThreads * kOfVector<T>);
  days::require_needs(p, "exercise", kAlignedBackward);
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, SwishBackward, float, days::half, days::bf16);

}  // namespace day41
