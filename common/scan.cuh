// SPDX-License-Identifier: MIT
// Prefix sums ("scans"): where each one's part begins when all parts lie one after the other.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"
#include "common/util.h"

namespace day62 {

// The sum over the lanes up to and with this one. All lanes call it. Five steps: after the step of distance d
// a lane has the sum of itself and the 2d - 1 lanes before it.
template <class T>
__device__ inline T warp_inclusive_scan(T value) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int distance = 1; distance < days::kWarpSize; distance *= 2) {
    const T from_below = __shfl_up_sync(days::kFullWarp, value, distance);
    if (lane >= distance) value += from_below;
  }
  return value;
}

// The sum over the threads of the block before this one; `total`, over all. All threads of the block call it,
// and may call it again. Each warp scans its own values and then, for itself, the warps' sums.
template <int kThreads, class T>
__device__ inline T block_exclusive_scan(T value, T& total) {
  constexpr int kWarps = kThreads / days::kWarpSize;
  static_assert(kThreads % days::kWarpSize == 0 && kWarps <= days::kWarpSize);
  __shared__ T sums[kWarps];  // one a warp
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const T mine = warp_inclusive_scan(value);
  if (lane == days::kWarpSize - 1) sums[warp] = mine;
  __syncthreads();
  const T up_to = warp_inclusive_scan(lane < kWarps ? sums[lane] : T{});
  const T warps_before = __shfl_sync(days::kFullWarp, up_to, warp == 0 ? 0 : warp - 1);
  total = __shfl_sync(days::kFullWarp, up_to, kWarps - 1);
  __syncthreads();  // a second call may overwrite `sums` only when every warp has read it
  return (warp == 0 ? T{} : warps_before) + mine - value;
}

}  // namespace day62
