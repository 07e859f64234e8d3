// SPDX-License-Identifier: MIT
// A thread's elements of several arrays: 16 bytes of each, and one by one where fewer are left.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/types.h"
#include "common/vector.cuh"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {

template <int kCount>
struct Count {};

// work(first, Count<kCount>{}) for the thread's vector of T, with as many elements as 16 bytes hold, or with 1 for each of
// the elements after the last whole vector.
template <class T, class Work>
__device__ inline void each_vector(int64_t n, Work work) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kEach <= n) {
    work(first, Count<kEach>{});
  } else {
#pragma unroll 1
    for (int64_t i = first; i < n; ++i) work(i, Count<1>{});
  }
}

// One element, or 16 bytes of them.
template <int kCount, class T>
__device__ inline days::Vec<T, kCount> load(const T* from) {
  if constexpr (kCount == 1) {
    return {{*from}};
  } else {
    return days::load16(from);
  }
}
template <int kCount, class T>
__device__ inline void store(T* to, const days::Vec<T, kCount>& vec) {
  if constexpr (kCount == 1) {
    *to = vec[0];
  } else {
    days::store16(to, vec);
  }
}

}  // namespace day15
