// SPDX-License-Identifier: MIT
// A tree, read from its leaves: a thread takes an element, then neighbours are added up, then neighbours of those, eight levels
// for the 256 elements of a block. A launch does this for all blocks; the next one has the blocks' sums as its elements.
// Bound by: barriers, eight for 256 elements; and sums that move apart until a warp's 32 lie in one bank.
// Teaches: __syncthreads.
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

template <class From, class To>
__global__ void __launch_bounds__(kThreads) pairs_kernel(const From* x,  // (n)
                                                         To* sums,       // (blocks)
                                                         int64_t n) {
  __shared__ To partial[kThreads];
  const int t = threadIdx.x;
  const int64_t i = int64_t{blockIdx.x} * kThreads + t;
  partial[t] = i < n ? to_total<To>(x[i]) : To{0};
  for (int distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    const int left = 2 * distance * t;
    if (left < kThreads) partial[left] += partial[left + distance];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

}  // namespace

template <class T>
void sum_pairs(const Sum<T>& p, cudaStream_t stream) {
  each_level(p, "pairs", kTilesOfPairs, [&](const auto* x, auto* sums, int64_t n, unsigned blocks) {
    pairs_kernel<<<blocks, kThreads, 0, stream>>>(x, sums, n);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(sum_pairs, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
