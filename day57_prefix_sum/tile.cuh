// SPDX-License-Identifier: MIT
// A tile as raked has it, for the rungs after it: a warp's elements are neighbours, its j-th load takes 32 vectors in a row, and
// each thread adds up its own vectors before the lanes exchange sums.
#pragma once

#include <cuda_runtime.h>

#include "common/scan.cuh"
#include "common/vector.cuh"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {

// From the sums of a block's warps, in shared memory: those before this thread's warp, and all.
template <class Sum>
struct WarpsBefore {
  Sum before, total;
};
template <int kCount, class Sum>
__device__ inline WarpsBefore<Sum> warps_before(const Sum* sums) {
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  WarpsBefore<Sum> result = {0, 0};
#pragma unroll
  for (int w = 0; w < kCount; ++w) {
    if (w == warp) result.before = result.total;
    result.total += sums[w];
  }
  return result;
}

template <class T>
struct Tile {
  using Sum = Total<T>;

  days::Vec<T> vector[kVectors];
  Sum before[kVectors];  // of each vector: what the warp's elements before it add up to; set by scan()

  // Where vector j of this thread begins in its tile.
  __device__ static int place(int j) {
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
              warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
    return ((warp * kVectors + j) * days::kWarpSize + lane) * kEach<T>;
  }

  // The tile's elements begin at `from`: a whole tile, aligned; or `count` of them, anywhere, and what is missing is 0.
  __device__ void load(const T* from) {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) vector[j] = days::load16(from + place(j));
  }
  __device__ void load(const T* from, int count) {
    if (count == kTile<T> && days::aligned16(from)) return load(from);
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
#pragma unroll
      for (int i = 0; i < kEach<T>; ++i) {
        const int at = place(j) + i;
        vector[j][i] = at < count ? from[at] : from_total<T>(0);
      }
    }
  }

  __device__ Sum sum_of(int j) const {
    Sum sum = to_total(vector[j][0]);
#pragma unroll
    for (int i = 1; i < kEach<T>; ++i) sum += to_total(vector[j][i]);
    return sum;
  }

  // Sets `before`, and returns what the warp's elements add up to, in every lane. All lanes call it.
  __device__ Sum scan() {
    Sum total[kVectors];
#pragma unroll
    for (int j = 0; j < kVectors; ++j) before[j] = days::warp_exclusive_scan(sum_of(j), total[j]);
    Sum sum = 0;
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      before[j] += sum;
      sum += total[j];
    }
    return sum;
  }

  // Writes the tile's results, `count` of them, from `to` on; the elements before the warp's add up to `base`.
  __device__ void store(T* to, int count, Sum base, bool exclusive) const {
    const bool whole = count == kTile<T> && days::aligned16(to);
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const Sum first = base + before[j];
      days::Vec<T> result;
      Sum sum = 0;
#pragma unroll
      for (int i = 0; i < kEach<T>; ++i) {
        const Sum with = sum + to_total(vector[j][i]);
        result[i] = from_total<T>(first + (exclusive ? sum : with));
        sum = with;
      }
      if (whole) {
        days::store16(to + place(j), result);
      } else {
#pragma unroll
        for (int i = 0; i < kEach<T>; ++i) {
          if (place(j) + i < count) to[place(j) + i] = result[i];
        }
      }
    }
  }
};

// How many of n elements the tile has that begins at `first`.
template <class T>
__device__ inline int count_of(int64_t first, int64_t n) {
  return static_cast<int>(n - first < kTile<T> ? n - first : kTile<T>);
}

}  // namespace day57
