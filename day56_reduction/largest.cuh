// SPDX-License-Identifier: MIT
// A thread's largest element of its block's share, which both rungs of argmax begin with.
#pragma once

#include <cuda_runtime.h>

#include "day56_reduction/share.cuh"

namespace day56 {

// Whether an element takes the place of the largest before it: NaN does, but nothing takes the place of a NaN. One comparison
// says "greater or NaN", the other whether `largest` is a number.
__device__ inline bool takes_over(float x, float largest) {
  return !(x <= largest) && largest == largest;
}

inline constexpr unsigned kNone = 0xffffffffu;
struct Found {
  float value;
  unsigned place;  // counted from the share's begin; kNone: this thread has no element
};

// -infinity takes over from nothing, and so stands for what is beyond the end.
template <class T>
__device__ inline Found largest_of_thread(const T* x, const Share<T>& share) {
  constexpr int kEach = kOfVector<T>;
  Found found = {-INFINITY, kNone};
  const auto look = [&found](T element, unsigned place) {
    const float value = days::to_float(element);
    if (takes_over(value, found.value)) found = {value, place};
  };
  each_round(x, share, days::from_float<T>(-INFINITY), [&](const auto& v, int64_t at) {
    const unsigned place = static_cast<unsigned>((at - share.begin) * kEach);
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) look(v[ahead][i], place + ahead * kShareThreads * kEach + i);
    }
  });
  const int64_t tail = share.tail + threadIdx.x;
  const unsigned of_tail = static_cast<unsigned>(tail - share.begin * kEach);
  if (tail < share.n) look(x[tail], of_tail);
  // All were -infinity: the first of them.
  if (found.place == kNone && share.begin + threadIdx.x < share.end) {
    found.place = threadIdx.x * kEach;
  } else if (found.place == kNone && tail < share.n) {
    found.place = of_tail;
  }
  return found;
}

}  // namespace day56
