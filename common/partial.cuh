// SPDX-License-Identifier: MIT
// What is known of a part of a row: its maximum, and the sum of e^(x - max). Two parts make one. Day 14 takes it apart and has its own
// (day14_softmax/03_online.cu, 04_warp.cu).
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"

namespace days {

// Where a maximum begins: the lowest finite number. From -inf on, a part that has seen nothing but -inf would
// be e^(-inf - -inf) = NaN in the sum of a row that has numbers elsewhere.
inline constexpr float kLowest = -3.402823466e+38f;

struct alignas(8) Partial {
  float max = kLowest, sum = 0;

  // One value more: the online step. A new maximum shrinks what was added before.
  __device__ void add(float x) {
    if (x > max) {
      sum *= expf(max - x);
      max = x;
    }
    sum += expf(x - max);
  }
};

// Of groups of kLanes neighbouring lanes, in each of their lanes. The maximum goes first: then each lane
// rescales its sum once, and no exchange needs an exponential.
template <int kLanes = kWarpSize>
__device__ inline Partial warp_merge(Partial mine) {
  const float max = warp_reduce<kLanes>(mine.max, Max{});
  return {max, warp_reduce<kLanes>(mine.sum * expf(mine.max - max), Sum{})};
}

// Of a block of kWarps warps, from the partials of the warps, which all lanes of each hold. One barrier: a
// second call needs other shared memory, or a barrier between.
template <int kWarps>
__device__ inline Partial block_merge(Partial of_warp, Partial (&shared)[kWarps]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (lane == 0) shared[threadIdx.x / kWarpSize] = of_warp;
  __syncthreads();
  return warp_merge<kWarps>(shared[lane % kWarps]);
}

}  // namespace days
