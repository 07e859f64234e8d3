// SPDX-License-Identifier: MIT
//
// Sums and argmaxes with a bug in each, which day 56's tests must reject.

#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

// One block, whose threads take every 256th element; the block's tree is that of halves down to `last`.
template <class T, class To>
__device__ To chain_of(const T* x, int64_t n) {
  To sum{0};
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += static_cast<To>(days::to_float(x[i]));
  return sum;
}

// The last warp of old tutorials: 32 threads that are taken to move in step. Since Volta they need not.
__global__ void last_warp_kernel(const float* x, float* sum, int64_t n) {
  __shared__ volatile float partial[kThreads];
  const int t = threadIdx.x;
  partial[t] = chain_of<float, float>(x, n);
  __syncthreads();
  for (int half = kThreads / 2; half > 32; half /= 2) {
    if (t < half) partial[t] = partial[t] + partial[t + half];
    __syncthreads();
  }
  if (t < 32) {
    for (int half = 32; half > 0; half /= 2) partial[t] = partial[t] + partial[t + half];
  }
  if (t == 0) *sum = partial[0];
}
void last_warp(const Sum<float>& p, cudaStream_t stream) {
  last_warp_kernel<<<1, kThreads, 0, stream>>>(p.x, p.sum, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT_ON_CPU(sum, last_warp, "simt-race-shared|sum[0] is",
                   "its compiler keeps a warp's lanes in step here, which nothing promises");

// Whole vectors alone.
__global__ void drops_tail_kernel(const float* x, float* sum, int64_t n) {
  float mine = 0;
  for (int64_t i = 4 * int64_t{threadIdx.x}; i + 4 <= n; i += 4 * kThreads)
    for (int lane = 0; lane < 4; ++lane) mine += x[i + lane];
  mine = days::block_reduce(mine, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *sum = mine;
}
void drops_tail(const Sum<float>& p, cudaStream_t stream) {
  drops_tail_kernel<<<1, kThreads, 0, stream>>>(p.x, p.sum, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(sum, drops_tail, "1: sum[0] is 0");

// A sum in the type of x: fp16 ends at 65,504.
__global__ void in_16_bits_kernel(const days::half* x, float* sum, int64_t n) {
  days::half mine = days::from_float<days::half>(0);
  for (int64_t i = threadIdx.x; i < n; i += kThreads)
    mine = days::from_float<days::half>(days::to_float(mine) + days::to_float(x[i]));
  const float all = days::block_reduce(days::to_float(mine), days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *sum = all;
}
void in_16_bits(const Sum<days::half>& p, cudaStream_t stream) {
  in_16_bits_kernel<<<1, kThreads, 0, stream>>>(p.x, p.sum, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(sum, in_16_bits, "sum[0] is");

// One thread, one chain: right in whole numbers, and deeper than any tree.
__global__ void one_chain_kernel(const float* x, float* sum, int64_t n) {
  float all = 0;
  for (int64_t i = 0; i < n; ++i) all += x[i];
  *sum = all;
}
void one_chain(const Sum<float>& p, cudaStream_t stream) {
  one_chain_kernel<<<1, 1, 0, stream>>>(p.x, p.sum, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(sum, one_chain, "2^24, then ones|all 0.1");

// Argmax by one block; Rule(a, b): whether a comes first. Threads without an element bring `nothing`.
template <class Rule>
__global__ void argmax_kernel(const float* x, float* value, int64_t* index, int64_t n, float nothing,
                              Rule rule) {
  __shared__ Largest partial[kThreads];
  const int t = threadIdx.x;
  Largest mine = {nothing, t < n ? t : int64_t{0}};
  if (t < n) mine.value = x[t];
  for (int64_t i = t + kThreads; i < n; i += kThreads)
    if (rule(Largest{x[i], i}, mine)) mine = {x[i], i};
  partial[t] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && rule(partial[t + half], partial[t])) partial[t] = partial[t + half];
  }
  if (t == 0) {
    *value = partial[0].value;
    *index = partial[0].index;
  }
}

// The rule is right, but 0 is taken for the least of all numbers.
struct Right {
  __device__ bool operator()(Largest a, Largest b) const {
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan;
    return a.value > b.value || (!(a.value < b.value) && a.index < b.index);
  }
};
void zero_is_least(const Argmax<float>& p, cudaStream_t stream) {
  argmax_kernel<<<1, kThreads, 0, stream>>>(p.x, p.value, p.index, p.n, 0.0f, Right{});
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(argmax, zero_is_least, "value[0] is 0, expected -");

// Of equals the first; but NaN equals nothing, not even NaN.
struct EqualsAlone {
  __device__ bool operator()(Largest a, Largest b) const {
    return a.value > b.value || (a.value == b.value && a.index < b.index);
  }
};
void equals_alone(const Argmax<float>& p, cudaStream_t stream) {
  argmax_kernel<<<1, kThreads, 0, stream>>>(p.x, p.value, p.index, p.n, -INFINITY, EqualsAlone{});
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(argmax, equals_alone, "expected nan");

}  // namespace
}  // namespace day56
