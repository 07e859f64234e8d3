// SPDX-License-Identifier: MIT
//
// Exercise: GELU forward and backward, with nothing kept from the one for the other but x itself.
// Gates: y and dx right for every n and the hostile values; no race; no byte of workspace written; at most 1.6 bytes
// loaded for each byte of x and dy (inner loads 2); at least 400 bytes to each request of a warp.
//   ./days check 15      tells how far you are        ./days hint 15      when you are stuck
#include "day15_gelu_backward/gelu_backward.h"
#include "day15_gelu_backward/vectors.cuh"

namespace day15 {
namespace {

// Launched twice. Forward, out is y = x * P(x), where P(x) = (1 + erf(x * kHalfRoot)) / 2, and dy is null.
// Backward, out is dx = dy * (P(x) + x * density(x)), where density(x) = kDensity * e^(-x * x / 2).
template <bool kForward, class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const T* x, const T* dy, T* out,  // (n) each
                                                            int64_t n) {
  each_vector<T>(n, [&]<int kCount>([[maybe_unused]] int64_t first, Count<kCount>) {
    // 1. days::Vec<T, kCount> v = load<kCount>(x + first) are this thread's elements, v[i] one of them. Where
    //    `if constexpr (!kForward)`, load those of dy, too.
    // 2. Of each make P(x) with erff, in fp32 (days::to_float, days::from_float<T>): both launches need it.
    // 3. Forward, y. Backward, the density with expf, and dx.
    // 4. store<kCount>(out + first, v).
    // your code
  });
}

}  // namespace

template <class T>
void exercise(const GeluStep<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "exercise", 0);
  exercise_kernel<true, T><<<blocks, kThreads, 0, stream>>>(p.x, nullptr, p.y, p.n);
  CUDA_CHECK_LAUNCH();
  exercise_kernel<false, T><<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, GeluStep, float, days::half, days::bf16);

}  // namespace day15
