// SPDX-License-Identifier: MIT
// What the kernels of top-k share: finding a digit of the k-th largest, and putting k candidates in order.
#pragma once

#include <cuda_runtime.h>

#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/ordered.cuh"

namespace day62 {

inline constexpr int kSelectBits = 8, kSelectBins = 1 << kSelectBits;

// What is known of the k-th largest element while it is searched for, a digit a pass, from the highest down.
struct Search {
  uint32_t prefix;  // its digits so far, where they are in the number
  int k;            // of those elements that begin with the same digits it is the k-th largest
};

// From `counts`, the histogram of the next digit among the elements that begin with search.prefix, the digit
// of the k-th largest: with all larger digits there are fewer than k elements, with it k or more. All threads
// of the block call it; afterwards `counts` is 0 again.
template <int kThreads>
__device__ inline void find_digit(uint32_t (&counts)[kSelectBins], int shift, Search& search) {
  static_assert(kThreads >= kSelectBins);
  __shared__ Search found;
  const int bin = kSelectBins - 1 - static_cast<int>(threadIdx.x);  // the largest first
  const int here = bin >= 0 ? static_cast<int>(counts[bin]) : 0;
  int all;
  const int larger = days::block_exclusive_scan<kThreads>(here, all);
  if (larger < search.k && search.k <= larger + here) {  // in one thread
    found.prefix = search.prefix | static_cast<uint32_t>(bin) << shift;
    found.k = search.k - larger;
  }
  if (bin >= 0) counts[bin] = 0;
  __syncthreads();
  search = found;
}

// A candidate's place among k: the number of those that are larger.
__device__ inline int place_among(const Candidate* candidates, int k, Candidate mine) {
  int place = 0;
  for (int i = 0; i < k; ++i) place += candidates[i] > mine;
  return place;
}

}  // namespace day62
