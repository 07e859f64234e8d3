// SPDX-License-Identifier: MIT
//
// How blocks that run at the same time hand each other values: a word of 8 bytes is a value and a tag, written and read as one, so that who
// sees the tag has the value. There is no flag beside the values, no fence, and nothing to set back: a word's next value has another tag.
// Whoever writes it must know that its last one has been read by all.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/ptx.h"

namespace serve {

using Word = unsigned long long;
template <class T>
inline constexpr int kInWord = 4 / static_cast<int>(sizeof(T));  // values of a word

template <class T>
__device__ inline void send(Word* to, const T (&values)[kInWord<T>], uint32_t tag) {
  uint32_t bits;
  memcpy(&bits, static_cast<const void*>(values), sizeof bits);
  days::ptx::st_relaxed_gpu(to, Word{tag} << 32 | bits);
}

// Threads 0 to kThreads - 1 take words 0 to count - 1 by turns. Each waits until its words have the tag, and calls use(index, value) for all
// values. pause: nanoseconds between two looks.
template <int kThreads, class T, class Use>
__device__ inline void receive(const Word* from, int count, uint32_t tag, int thread, unsigned pause,
                               const Use& use) {
  constexpr int kBatch = 4;  // looks under way
  for (int first = thread; first < count; first += kBatch * kThreads) {
    Word words[kBatch] = {};
    while (true) {
      bool all = true;
#pragma unroll
      for (int b = 0; b < kBatch; ++b)
        if (first + b * kThreads < count) words[b] = days::ptx::ld_relaxed_gpu(from + first + b * kThreads);
#pragma unroll
      for (int b = 0; b < kBatch; ++b)
        all = all && (first + b * kThreads >= count || static_cast<uint32_t>(words[b] >> 32) == tag);
      if (all) break;
      if (pause > 0) __nanosleep(pause);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int word = first + b * kThreads;
      if (word >= count) break;
      T values[kInWord<T>];
      const auto bits = static_cast<uint32_t>(words[b]);
      memcpy(static_cast<void*>(values), &bits, sizeof bits);
#pragma unroll
      for (int i = 0; i < kInWord<T>; ++i) use(word * kInWord<T> + i, static_cast<float>(values[i]));
    }
  }
}

}  // namespace serve
