// SPDX-License-Identifier: MIT
//
// Prefix sums ("scans"): where each one's part begins when all parts lie one after the other. Days 57 and 62 take them apart.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/reduce.cuh"
#include "common/util.h"

namespace days {

// The sum over the lanes up to and with this one. All lanes call it. Five steps: after the step of distance d
// a lane has the sum of itself and the 2d - 1 lanes before it.
template <class T>
__device__ inline T warp_inclusive_scan(T value) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    const T from_below = __shfl_up_sync(kFullWarp, value, distance);
    if (lane >= distance) value += from_below;
  }
  return value;
}

// What the lanes before this one bring; `total`, what all bring. All lanes call it. No value is taken off again, because infinity
// less infinity is no number.
template <class T>
__device__ inline T warp_exclusive_scan(T value, T& total) {
  const T up_to = warp_inclusive_scan(value);
  total = __shfl_sync(kFullWarp, up_to, kWarpSize - 1);
  const T before = __shfl_up_sync(kFullWarp, up_to, 1);
  return static_cast<int>(threadIdx.x) % kWarpSize == 0 ? T{} : before;
}

// The sum over the threads of the block before this one; `total`, over all. All threads of the block call it,
// and may call it again. Each warp scans its own values and then, for itself, the warps' sums.
template <int kThreads, class T>
__device__ inline T block_exclusive_scan(T value, T& total) {
  constexpr int kWarps = kThreads / kWarpSize;
  static_assert(kThreads % kWarpSize == 0 && kWarps <= kWarpSize);
  __shared__ T sums[kWarps];  // one a warp
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize,
            warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const T mine = warp_inclusive_scan(value);
  if (lane == kWarpSize - 1) sums[warp] = mine;
  __syncthreads();
  const T up_to = warp_inclusive_scan(lane < kWarps ? sums[lane] : T{});
  const T warps_before = __shfl_sync(kFullWarp, up_to, warp == 0 ? 0 : warp - 1);
  total = __shfl_sync(kFullWarp, up_to, kWarps - 1);
  __syncthreads();  // a second call may overwrite `sums` only when every warp has read it
  if constexpr (std::is_integral_v<T>) {
    return (warp == 0 ? T{} : warps_before) + mine - value;
  } else {
    const T below = __shfl_up_sync(kFullWarp, mine, 1);
    return (warp == 0 ? T{} : warps_before) + (lane == 0 ? T{} : below);
  }
}

// Block r scans row r of an array: values[r, i] becomes the sum of those before it, and totals[r] that of all. kItems neighbours a
// thread in each round.
template <int kThreads, int kItems, class T>
__global__ void __launch_bounds__(kThreads) scan_rows_kernel(T* values,  // (rows, count)
                                                             T* totals,  // (rows)
                                                             int64_t count) {
  values += blockIdx.x * count;
  T before = 0;
  for (int64_t first = 0; first < count; first += kThreads * kItems) {
    const int64_t mine = first + threadIdx.x * kItems;
    T value[kItems], sum = 0, total;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      value[i] = mine + i < count ? values[mine + i] : 0;
      sum += value[i];
    }
    T start = before + block_exclusive_scan<kThreads>(sum, total);
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (mine + i < count) values[mine + i] = start;
      start += value[i];
    }
    before += total;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

}  // namespace days
