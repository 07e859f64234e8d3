// SPDX-License-Identifier: MIT
//
// Exercise: a sum in two launches. A thread adds up 16 elements before the block's tree; in halves it takes one.
// Gates: the sum right for every n and type; no race; each element read once; at most 10% wasted sectors; two launches at most
// (halves needs three).
//   ./days check 56      tells how far you are        ./days hint 56      when you are stuck
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

template <class From, class To>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const From* x,  // (n)
                                                            To* sums,       // (blocks)
                                                            int64_t n) {
  __shared__ To partial[kThreads];
  const int t = threadIdx.x;
  To sum{0};
  // Add up kItems elements of the block's tile, which begins at blockIdx.x * kTileOfChains: to_total<To>(x[i]) is x[i] as a To.
  //    Which elements are thread t's, so that the lanes of a warp read neighbours? Those from n on are not there.
  // your code
  partial[t] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

}  // namespace

template <class T>
void exercise(const Sum<T>& p, cudaStream_t stream) {
  each_level(p, "exercise", kTilesOfChains, [&](const auto* x, auto* sums, int64_t n, unsigned blocks) {
    exercise_kernel<<<blocks, kThreads, 0, stream>>>(x, sums, n);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
