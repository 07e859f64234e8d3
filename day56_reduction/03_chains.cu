// SPDX-License-Identifier: MIT
// A thread first adds up 16 elements in a register, 256 apart so that a warp's lie side by side: a chain. Then the block's tree.
// Changed since halves: a barrier serves 16 times as many elements, and 4,096 of them leave one sum. The tree is 15 deeper.
// Bound by: requests to memory, one for each 4 bytes of a thread.
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

template <class From, class To>
__global__ void __launch_bounds__(kThreads) chains_kernel(const From* x,  // (n)
                                                          To* sums,       // (blocks)
                                                          int64_t n) {
  __shared__ To partial[kThreads];
  const int t = threadIdx.x;
  const int64_t first = int64_t{blockIdx.x} * (kThreads * kItems) + t;
  To sum{0};
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int64_t i = first + item * kThreads;
    if (i < n) sum += to_total<To>(x[i]);
  }
  partial[t] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

}  // namespace

template <class T>
void sum_chains(const Sum<T>& p, cudaStream_t stream) {
  each_level(p, "chains", kTilesOfChains, [&](const auto* x, auto* sums, int64_t n, unsigned blocks) {
    chains_kernel<<<blocks, kThreads, 0, stream>>>(x, sums, n);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(sum_chains, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
