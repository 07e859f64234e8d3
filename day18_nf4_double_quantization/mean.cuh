// SPDX-License-Identifier: MIT
// What both ways to codes share: the mean of all scales, and the search for a scale's code.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {

// sums[blockIdx.x] is the sum of this block's scales.
template <class T>
__global__ void __launch_bounds__(kThreads) sums_kernel(const T* absmax,  // (b)
                                                        T* sums,          // (blocks)
                                                        int64_t b) {
  T sum = 0;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < b; i += int64_t{gridDim.x} * kThreads)
    sum += absmax[i];
  sum = days::block_reduce(sum, days::Sum{}, T{0});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The mean, in every thread of a block. Each block adds up the sums in the same order, so all have the same bits.
template <class T>
__device__ inline T mean_of(const T* sums, int count, int64_t b) {
  const T mine = static_cast<int>(threadIdx.x) < count ? sums[threadIdx.x] : T{0};
  return days::block_reduce(mine, days::Sum{}, T{0}) / static_cast<T>(b);
}

// The code of a scaled number, as bitsandbytes searches it: seven halvings end at an even entry of the map, next to x, and then the
// middles between it and its neighbours decide.
template <class T>
__device__ inline uint8_t code8_of(const T* map, T x) {
  int at = kMap / 2 - 1;
#pragma unroll
  for (int step = kMap / 4; step > 0; step /= 2) at += x > map[at] ? step : -step;
  if (x > map[at]) {
    if (x > (map[at] + map[at + 1]) * T{0.5f}) ++at;
  } else if (at > 0) {
    if (x < (map[at] + map[at - 1]) * T{0.5f}) --at;
  }
  return static_cast<uint8_t>(at);
}

// The code of this thread's scale less the offset, `centred`; a block is a group, and a thread without a scale has i >= b. The map is
// in shared memory.
template <class T>
__device__ inline void code_group(T centred, int64_t i, int64_t b, const T* map, uint8_t* codes8,
                                  T* absmax2) {
  const T largest = days::block_reduce(i < b ? fabsf(centred) : T{0}, days::Max{}, T{0});
  if (i >= b) return;
  if (threadIdx.x == 0) absmax2[i / kGroup] = largest;
  codes8[i] = code8_of(map, centred * (T{1} / largest));
}

}  // namespace day18
