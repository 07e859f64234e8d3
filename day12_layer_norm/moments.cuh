// SPDX-License-Identifier: MIT
// What is known of some numbers: how many, their mean, and the sum of their squared distances from it. Two such
// parts make one, without looking at the numbers again.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"

namespace day12 {

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
  // variances", 1979): the parts' means are n numbers at one place each.
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
  all.n = days::warp_reduce<kLanes>(mine.n, days::Sum{});
  all.mean = days::warp_reduce<kLanes>(mine.n * mine.mean, days::Sum{}) / all.n;
  const float distance = mine.mean - all.mean;
  all.m2 = days::warp_reduce<kLanes>(mine.m2 + mine.n * distance * distance, days::Sum{});
  return all;
}

// What forward keeps of a row for backward.
struct Statistics {
  float mean, rstd;
};
// An infinity or a NaN in the row has made m2 NaN, but not always the mean.
__device__ inline Statistics statistics(const Moments& row, float eps) {
  return {row.m2 == row.m2 ? row.mean : row.m2, rsqrtf(row.m2 / row.n + eps)};
}

__device__ inline float normalised(float x, Statistics s, float gamma, float beta) {
  return (x - s.mean) * s.rstd * gamma + beta;
}

}  // namespace day12
