// SPDX-License-Identifier: MIT
// A word of codes, one for each element of a 16-byte vector: 32 bits where elements have 16, and 16 where they have 32.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/vector.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {

template <class T>
using CodeWord = std::conditional_t<kEach<T> == 8, uint32_t, uint16_t>;

// The codes of elements first, first + 1, ... of n, of which those from n on need not be there: codes of what is not are any.
template <class T>
__device__ inline unsigned load_codes(const uint8_t* codes, int64_t first, int64_t n) {
  if (first + kEach<T> <= n) return *reinterpret_cast<const CodeWord<T>*>(codes + first / 2);
  unsigned word = 0;
  for (int i = 0; i < kEach<T>; i += 2)
    if (first + i < n) word |= unsigned{codes[(first + i) / 2]} << (4 * i);
  return word;
}
template <class T>
__device__ inline void store_codes(uint8_t* codes, int64_t first, int64_t n, unsigned word) {
  if (first + kEach<T> <= n) {
    *reinterpret_cast<CodeWord<T>*>(codes + first / 2) = static_cast<CodeWord<T>>(word);
  } else {
    for (int i = 0; i < kEach<T>; i += 2)
      if (first + i < n) codes[(first + i) / 2] = static_cast<uint8_t>(word >> (4 * i));
  }
}

// A vector of x, with 0 from n on; and as much of one as there is of y.
template <class T>
__device__ inline days::Vec<T> load_vector(const T* x, int64_t first, int64_t n) {
  if (first + kEach<T> <= n) return days::load16(x + first);
  days::Vec<T> v;
#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) v[i] = first + i < n ? x[first + i] : days::from_float<T>(0);
  return v;
}
template <class T>
__device__ inline void store_vector(T* y, int64_t first, int64_t n, const days::Vec<T>& v) {
  if (first + kEach<T> <= n) {
    days::store16(y + first, v);
  } else {
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i)
      if (first + i < n) y[first + i] = v[i];
  }
}

}  // namespace day17
