// SPDX-License-Identifier: MIT
// How a block walks over its share of x, from one_launch on.
#pragma once

#include <cuda_runtime.h>

#include "common/vector.cuh"
#include "day56_reduction/reduction.h"

namespace day56 {

// The share of this block, in vectors of 16 bytes; and the elements after the last whole vector, which are the last block's.
template <class T>
struct Share {
  int64_t begin, end;  // vectors
  int64_t tail, n;     // elements; none in other blocks

  __device__ Share(int64_t count, int64_t each) {
    const int64_t vectors = count / kOfVector<T>, after = (int64_t{blockIdx.x} + 1) * each;
    begin = after - each;
    end = after < vectors ? after : vectors;
    tail = blockIdx.x == gridDim.x - 1 ? vectors * kOfVector<T> : count;
    n = count;
  }
};

// take(v, at) for every round of kAhead vectors of this thread, `at` and every kShareThreads-th after it, all of which are loaded
// first. Elements beyond the share's end are `nothing`: what changes no result.
template <class T, class Take>
__device__ inline void each_round(const T* x, const Share<T>& share, T nothing, Take take) {
  days::Vec<T> none;
#pragma unroll
  for (int i = 0; i < kOfVector<T>; ++i) none[i] = nothing;
  for (int64_t at = share.begin + threadIdx.x; at < share.end; at += kAhead * kShareThreads) {
    uint4 words[kAhead];  // whole words: the compiler would choose between halves of a 16-bit pair one by one
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      const int64_t vector = at + ahead * kShareThreads;
      words[ahead] = days::to_word(none);
      if (vector < share.end) words[ahead] = *reinterpret_cast<const uint4*>(x + vector * kOfVector<T>);
    }
    days::Vec<T> v[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) v[ahead] = days::from_word<T>(words[ahead]);
    take(v, at);
  }
}

}  // namespace day56
