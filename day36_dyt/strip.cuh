// SPDX-License-Identifier: MIT
// A thread's strip of a matrix: the same few neighbouring columns in row after row, so that what it knows of a column
// stays in its registers. No row has to be whole in any block, because nothing is known of a row.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/types.h"
#include "common/vector.cuh"

namespace day36 {

inline constexpr int kStripThreads = 256;  // of a block

// Columns of a thread: 16 bytes, where all rows of these matrices and vectors are whole vectors; else one.
template <class T, bool kWide>
inline constexpr int kWidth = kWide ? days::Vec<T>::kSize : 1;

template <class T, class... Pointers>
bool whole_vectors(int cols, const Pointers*... pointers) {
  return cols % days::Vec<T>::kSize == 0 && days::aligned16(pointers...);
}

// Threads of a block that stand side by side along a row: 32, or as few as hold a short row, a power of two. The block's
// other threads take other rows.
inline int lanes_of(int cols, int width) {
  int lanes = 32;
  while (lanes > 1 && lanes / 2 * width >= cols) lanes /= 2;
  return lanes;
}

template <bool kWide, class T>
__device__ inline days::Vec<T, kWidth<T, kWide>> load(const T* from) {
  if constexpr (kWide) {
    return days::load16(from);
  } else {
    return {{*from}};
  }
}
// What is written is not read again here: it leaves the caches first.
template <bool kWide, class T>
__device__ inline void store(T* to, const days::Vec<T, kWidth<T, kWide>>& vec) {
  if constexpr (kWide) {
    days::store16_streaming(to, vec);
  } else {
    *to = vec[0];
  }
}

}  // namespace day36
