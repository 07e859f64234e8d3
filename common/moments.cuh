// SPDX-License-Identifier: MIT
// What is known of some numbers: how many, their mean, and the sum of their squared distances from it. Two such
// parts make one, without looking at the numbers again. Day 12 takes it apart (day12_layer_norm/03_welford.cu).
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"

namespace days {

struct Moments {
  float n = 0, mean = 0, m2 = 0;

  // One number more (Welford, "Note on a method for calculating corrected sums of squares and products", 1962).
  // Only distances from the mean so far are squared: no two large numbers are subtracted.
  __device__ void add(float x) {
    n += 1;
    const float distance = x - mean;
    mean += distance / n;
    m2 += distance * (x - mean);
  }

  // Another part (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  // variances", 1979): the parts' means are n numbers at one place each. A part without numbers changes nothing, and
  // where both have one mean, so has the whole, to the bit.
  __device__ void add(const Moments& other) {
    if (other.n == 0) return;
    const float all = n + other.n, distance = other.mean - mean;
    mean += distance * (other.n / all);
    m2 += other.m2 + distance * distance * (n * other.n / all);
    n = all;
  }
};

// The parts of groups of kLanes neighbouring lanes as one, in each of their lanes: not by pairs, but first the
// mean of all, then the distances from it. At least one part of a group has n > 0.
template <int kLanes>
__device__ inline Moments merge_lanes(const Moments& mine) {
  Moments all;
  all.n = warp_reduce<kLanes>(mine.n, Sum{});
  all.mean = warp_reduce<kLanes>(mine.n * mine.mean, Sum{}) / all.n;
  const float distance = mine.mean - all.mean;
  all.m2 = warp_reduce<kLanes>(mine.m2 + mine.n * distance * distance, Sum{});
  return all;
}

// The same by pairs, lane i with lane i + kLanes / 2, ..., i + kNeighbours, as a tree: where all parts have one mean, so has the
// whole, to the bit. Lanes i, i + kNeighbours, ... of a warp have a part of the same numbers; all of them get the whole, which has no
// numbers where no part has any. All lanes of the warp must call it.
template <int kNeighbours = 1>
__device__ inline Moments merge_pairs(Moments mine) {
  for (int distance = kWarpSize / 2; distance >= kNeighbours; distance /= 2) {
    const Moments other = {__shfl_down_sync(kFullWarp, mine.n, distance),
                           __shfl_down_sync(kFullWarp, mine.mean, distance),
                           __shfl_down_sync(kFullWarp, mine.m2, distance)};
    mine.add(other);
  }
  const int first = static_cast<int>(threadIdx.x) % kNeighbours;
  return {__shfl_sync(kFullWarp, mine.n, first), __shfl_sync(kFullWarp, mine.mean, first),
          __shfl_sync(kFullWarp, mine.m2, first)};
}

}  // namespace days
