// SPDX-License-Identifier: MIT
//
// Reductions in a warp and in a block, with any associative and commutative operation.
#pragma once

#include <cuda_runtime.h>

#include "common/util.h"

namespace days {

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
// A NaN among the operands comes out as NaN (fmaxf would drop it).
struct Max {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Min {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

inline constexpr unsigned kFullWarp = 0xffffffffu;

// The reduction over the 32 lanes, in every lane; with kLanes, over each group of so many neighbours, a power
// of two. All lanes must call it. Five exchanges, lane i with lane i ^ 16, ^ 8, ...: all lanes combine the
// same pairs, so with a commutative operation all get the same bits.
template <int kLanes = kWarpSize, class T, class Op>
__device__ inline T warp_reduce(T value, Op op) {
  static_assert(kLanes > 0 && kLanes <= kWarpSize && (kLanes & (kLanes - 1)) == 0);
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(kFullWarp, value, distance));
  }
  return value;
}

// The reduction over a one-dimensional block of a multiple of 32 threads, in every thread. All threads must
// call it; `identity` op x is x. Uses 32 elements of shared memory and two barriers, after which it can be
// called again.
template <class T, class Op>
__device__ inline T block_reduce(T value, Op op, T identity) {
  __shared__ T partial[kWarpSize];  // one a warp
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize,
            warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int warps = static_cast<int>(blockDim.x) / kWarpSize;
  value = warp_reduce(value, op);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = warp_reduce(lane < warps ? partial[lane] : identity, op);
  __syncthreads();  // a second call may overwrite `partial` only when every warp has read it
  return value;
}

}  // namespace days
