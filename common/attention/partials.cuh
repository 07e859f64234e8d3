// SPDX-License-Identifier: MIT
//
// Softmax in parts: what some lanes, a warp or a block know of a query from the keys that they have seen, and
// how two such parts become one. Day 49 takes it apart (day49_kv_cache/02_warps.cu, 03_split.cu).
//
// Scores in here are times log2(e), so that a weight is one instruction, 2^x.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/attention/chunks.h"
#include "common/attention/softmax.cuh"
#include "common/ptx.h"
#include "common/util.h"
#include "common/vector.cuh"

namespace days::attention {

// A lane's part: its kCols columns of o, before the division by the sum.
template <int kCols>
struct Running {
  float most = -INFINITY;  // the largest score so far, against which weights are taken
  float sum = 0;           // of the weights
  float o[kCols] = {};

  // Of a score; that of -infinity is 0 even where nothing larger has been seen.
  __device__ __forceinline__ float weight(float score) const {
    return ptx::ex2_approx_ftz(score - (most == -INFINITY ? 0 : most));
  }
  // From here on weights are taken against `score`, if that is larger. A NaN is not.
  __device__ __forceinline__ void rise(float score) {
    if (!(score > most)) return;
    const float shrink = ptx::ex2_approx_ftz(most - score);
    most = score;
    sum *= shrink;
#pragma unroll
    for (float& column : o) column *= shrink;
  }
  template <class T>
  __device__ __forceinline__ void add(float weight, const Vec<T, kCols>& v) {
    sum += weight;
#pragma unroll
    for (int i = 0; i < kCols; ++i) o[i] = fmaf(weight, to_float(v[i]), o[i]);
  }
  // Adds what the lane `distance` away has of the same columns from other keys. Both lanes must call it: each rises to
  // the larger of the two scores first.
  __device__ __forceinline__ void join_lane(int distance) {
    rise(__shfl_xor_sync(0xffffffffu, most, distance));
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
#pragma unroll
    for (float& column : o) column += __shfl_xor_sync(0xffffffffu, column, distance);
  }
};

// What a run of keys makes of one column, and of the whole.
struct Part {
  float o, lse;  // divided by the sum; natural logarithm. Of no keys 0 and -infinity
};

// The parts of kWarps warps in shared memory.
template <int kWarps, int kDim>
struct WarpParts {
  float o[kWarps][kDim];
  float most[kWarps], sum[kWarps];

  // Of this warp, whose first kDim / kCols lanes have the columns in order.
  template <int kCols>
  __device__ __forceinline__ void put(const Running<kCols>& mine) {
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize,
              warp = static_cast<int>(threadIdx.x) / kWarpSize;
    if (lane * kCols >= kDim) return;
#pragma unroll
    for (int i = 0; i < kCols; ++i) o[warp][lane * kCols + i] = mine.o[i];
    if (lane == 0) {
      most[warp] = mine.most;
      sum[warp] = mine.sum;
    }
  }
  // Of all warps, once all have put theirs and met at a barrier.
  __device__ __forceinline__ Part total(int column) const {
    Running<1> all;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) all.rise(most[warp]);
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      const float factor = all.weight(most[warp]);
      all.sum = fmaf(sum[warp], factor, all.sum);
      all.o[0] = fmaf(o[warp][column], factor, all.o[0]);
    }
    return {all.sum == 0 ? 0 : all.o[0] / all.sum, (all.most + log2f(all.sum)) / kLog2E};
  }
};

// The parts `first`, first + 1, ... of `count` as this warp's share of them: each kWarps-th, in columns lane *
// kDim / 32 ... The parts may have been written by other blocks of the same launch, for they are read past L1.
template <int kWarps, int kDim>
__device__ __forceinline__ Running<kDim / kWarpSize> share_of_partials(const Partials& partials,
                                                                       int64_t first, int count) {
  constexpr int kCols = kDim / kWarpSize, kAtOnce = 8;
  using Columns = Vec<float, kCols>;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize,
            warp = static_cast<int>(threadIdx.x) / kWarpSize;
  Running<kCols> mine;
  for (int i = warp; i < count; i += kWarps * kAtOnce) {
    float score[kAtOnce];
    Columns o[kAtOnce] = {};
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int64_t at = first + i + j * kWarps;
      const bool inside = i + j * kWarps < count;
      score[j] = inside ? __ldcg(partials.lse + at) * kLog2E : -INFINITY;
      if (!inside) continue;
      if constexpr (kCols == 4) {
        o[j] = from_word<float>(__ldcg(reinterpret_cast<const uint4*>(partials.o + at * kDim) + lane));
      } else {
        static_assert(kCols == 2);
        const float2 two = __ldcg(reinterpret_cast<const float2*>(partials.o + at * kDim) + lane);
        o[j] = {two.x, two.y};
      }
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) mine.rise(score[j]);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) mine.add(mine.weight(score[j]), o[j]);
  }
  return mine;
}

// Whether this block is the last of the `draws` that have a part of the same result; in every thread, all of which must call
// it, once. ticket.cuh does so for all blocks of a launch, and what it says holds: `ticket` is 0 before the first launch and
// after each, and the last block sees what the others wrote before they met at a barrier, if it reads past L1. One barrier.
__device__ inline bool draws_last_of(unsigned* ticket, int draws) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    const unsigned most = static_cast<unsigned>(draws) - 1;
    __threadfence();  // who sees the ticket sees what was written before it
    last = atomicInc(ticket, most) == most;
    __threadfence();  // and what is read from here on is not older than the ticket
  }
  __syncthreads();
  return last;
}

}  // namespace days::attention
