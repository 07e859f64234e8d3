// SPDX-License-Identifier: MIT
// A thread loads eight vectors of 16 bytes before it adds up the first, and adds them as a tree, too. A warp's 32 sums meet by
// shuffles, without shared memory, and one barrier is left, before the first warp adds up the warps' sums.
// Changed since chains: a fourth of the requests (in 16 bits an eighth), 128 bytes of a thread under way, one barrier for eight.
// Bound by: memory.
// Teaches: __shfl_xor_sync.
#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

// The sum over a warp, in every lane.
template <class To>
__device__ inline To warp_sum(To sum) {
#pragma unroll
  for (int distance = days::kWarpSize / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(days::kFullWarp, sum, distance);
  return sum;
}

template <class From, class To>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const From* x,  // (n)
                                                           To* sums,       // (blocks)
                                                           int64_t n) {
  constexpr int kEach = kOfVector<From>, kWarps = kThreads / days::kWarpSize;
  __shared__ To partial[kWarps];
  const int t = threadIdx.x, lane = t % days::kWarpSize;
  const int64_t begin = int64_t{blockIdx.x} * kTileOfVectors<From>, end = begin + kTileOfVectors<From>;
  To sum{0};
  if (end <= n) {
    days::Vec<From> v[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead)
      v[ahead] = days::load16(x + begin + (ahead * kThreads + t) * kEach);
    To of_vector[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      of_vector[ahead] = to_total<To>(v[ahead][0]);
#pragma unroll
      for (int i = 1; i < kEach; ++i) of_vector[ahead] += to_total<To>(v[ahead][i]);
    }
#pragma unroll
    for (int half = kAhead / 2; half > 0; half /= 2)
#pragma unroll
      for (int ahead = 0; ahead < half; ++ahead) of_vector[ahead] += of_vector[ahead + half];
    sum = of_vector[0];
  } else {  // the last block takes its elements one by one
    for (int64_t i = begin + t; i < n; i += kThreads) sum += to_total<To>(x[i]);
  }
  sum = warp_sum(sum);
  if (lane == 0) partial[t / days::kWarpSize] = sum;
  __syncthreads();
  if (t < days::kWarpSize) {
    sum = warp_sum(lane < kWarps ? partial[lane] : To{0});
    if (t == 0) sums[blockIdx.x] = sum;
  }
}

}  // namespace

template <class T>
void sum_vectors(const Sum<T>& p, cudaStream_t stream) {
  days::require_needs(p, "vectors", kAligned);
  each_level(p, "vectors", kTilesOfVectors<T>, [&](const auto* x, auto* sums, int64_t n, unsigned blocks) {
    vectors_kernel<<<blocks, kThreads, 0, stream>>>(x, sums, n);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(sum_vectors, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
