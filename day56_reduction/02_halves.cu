// SPDX-License-Identifier: MIT
// Thread t adds what lies half a block away, then a quarter, and so on: neighbours in a warp touch neighbours in shared memory,
// and whole warps fall silent.
// Changed since pairs: who meets whom. As many barriers, additions and launches; no bank conflicts, fewer warps at each level.
// Bound by: barriers, eight for 256 elements.
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

template <class From, class To>
__global__ void __launch_bounds__(kThreads) halves_kernel(const From* x,  // (n)
                                                          To* sums,       // (blocks)
                                                          int64_t n) {
  __shared__ To partial[kThreads];
  const int t = threadIdx.x;
  const int64_t i = int64_t{blockIdx.x} * kThreads + t;
  partial[t] = i < n ? to_total<To>(x[i]) : To{0};
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

}  // namespace

template <class T>
void sum_halves(const Sum<T>& p, cudaStream_t stream) {
  each_level(p, "halves", kTilesOfPairs, [&](const auto* x, auto* sums, int64_t n, unsigned blocks) {
    halves_kernel<<<blocks, kThreads, 0, stream>>>(x, sums, n);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(sum_halves, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
