// SPDX-License-Identifier: MIT
// What all chases begin with: every line is read once, by many threads, so that a cache which can hold them all does. More
// than 32 MiB are left alone: no L2 of this course's GPUs can be relied on to keep them.
#pragma once

#include "day59_memory_hierarchy/memory.h"

namespace day59 {

inline constexpr int kTouchers = 1024;                     // threads of the one block
inline constexpr int64_t kMostTouched = int64_t{1} << 18;  // lines

__device__ inline void touch(const uint32_t* next, uint32_t* end, int64_t lines) {
  uint32_t seen = 0;
  const int64_t touched = lines <= kMostTouched ? lines : 0;
  for (int64_t line = threadIdx.x; line < touched; line += kTouchers) seen |= next[kLineWords * line];
  if (seen == 0xffffffffu) end[0] = seen;  // never: but a compiler cannot know it, and must load
  __syncthreads();
}

}  // namespace day59
