// SPDX-License-Identifier: MIT
//
// Exercise: the gradient of the logistic function, dx = dy * s(x) * (1 - s(x)), right in both tails, 16 bytes a thread.
// Gates: every element right for every n and the hostile values; no race; at least 400 bytes to each request of a warp
// (its 32 lanes with a float each ask for 128, with a half each for 64).
//   ./days check 9      tells how far you are        ./days hint 9      when you are stuck
#include "common/elementwise.cuh"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel([[maybe_unused]] const T* x,   // (n)
                                                            [[maybe_unused]] const T* dy,  // (n)
                                                            [[maybe_unused]] T* dx,        // (n)
                                                            [[maybe_unused]] int64_t n) {
  // 1. A lambda [](float x, float dy) that returns the gradient of one element. 1 - s(x) is a trap: write it for a first
  //    try, and see what check says of x up to 12.
  // 2. days::map_vector(a, b, y, n, f) is y[i] = f(a[i], b[i]) for the elements of this thread, 16 bytes of each array.
  // your code
}

}  // namespace

template <class T>
void exercise(const SigmoidBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "exercise", kOfVector<T>);
  days::require_needs(p, "exercise", kAlignedBackward);
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, SigmoidBackward, float, days::half, days::bf16);

}  // namespace day09
