// SPDX-License-Identifier: MIT
// A block a channel, which reads it three times: for the mean, for the squares of the distances from it, and for y. The sum is of distances
// from the channel's first number, so that where all are equal it is 0 to the bit.
// Bound by: latency. There are as many blocks as channels, and the GPU has room for more.
// Teaches: __shared__.
#include "common/check.h"
#include "common/reduce.cuh"
#include "day08_batch_norm/channel.cuh"

namespace day08 {
namespace {

// The sum of all threads' values, in each of them.
__device__ inline float sum_of_block(float value) {
  __shared__ float partial[kThreads];
  __syncthreads();  // everybody has read the sum before
  partial[threadIdx.x] = value;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  __syncthreads();
  return partial[0];
}

template <class T>
__global__ void __launch_bounds__(kThreads) channel_kernel(const BatchNorm<T> p) {
  const int channel = blockIdx.x, n = p.batch * p.space;
  // each(visit) calls visit(place in x) for this thread's numbers.
  const auto each = [&](auto visit) {
    Walk walk(channel, p.channels, p.space, threadIdx.x, kThreads);
    for (int i = threadIdx.x; i < n; i += kThreads, walk.next()) visit(walk.at);
  };
  const float first = days::to_float(p.x[int64_t{channel} * p.space]);
  float sum = 0, squares = 0;
  each([&](int64_t at) { sum += days::to_float(p.x[at]) - first; });
  Moments m;
  m.n = static_cast<float>(n);
  m.mean = first + sum_of_block(sum) / m.n;
  each([&](int64_t at) {
    const float distance = days::to_float(p.x[at]) - m.mean;
    squares += distance * distance;
  });
  m.m2 = sum_of_block(squares);
  const Affine affine = affine_of(p, m, channel);
  each([&](int64_t at) { p.y[at] = days::from_float<T>(affine(days::to_float(p.x[at]))); });
  if (threadIdx.x == 0) keep(p, m, channel);
}

}  // namespace

template <class T>
void batch_norm_channel(const BatchNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "channel", 0);
  channel_kernel<<<static_cast<unsigned>(p.channels), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(batch_norm_channel, BatchNorm, float, days::half, days::bf16);

}  // namespace day08
