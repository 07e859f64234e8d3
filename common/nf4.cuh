// SPDX-License-Identifier: MIT
// NF4 (nf4.h) in kernels, 16 bytes of numbers at a time: eight of 16 bits with a word of codes, or four of fp32 with half of one.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/nf4.h"
#include "common/reduce.cuh"
#include "common/types.h"
#include "common/vector.cuh"

namespace days {

template <class T>
inline constexpr int kNf4Each = 16 / static_cast<int>(sizeof(T));  // elements of 16 bytes

// The codes of elements first, first + 1, ... of n, of which those from n on need not be there: codes of what is not are any.
// codes is aligned to 4 bytes (in fp32 2), and first a multiple of kNf4Each.
template <class T>
__device__ inline unsigned load_nf4(const uint8_t* codes, int64_t first, int64_t n) {
  using Word = std::conditional_t<kNf4Each<T> == 8, uint32_t, uint16_t>;
  if (first + kNf4Each<T> <= n) return *reinterpret_cast<const Word*>(codes + first / 2);
  unsigned word = 0;
  for (int i = 0; i < kNf4Each<T>; i += 2)
    if (first + i < n) word |= unsigned{codes[(first + i) / 2]} << (4 * i);
  return word;
}
template <class T>
__device__ inline void store_nf4(uint8_t* codes, int64_t first, int64_t n, unsigned word) {
  using Word = std::conditional_t<kNf4Each<T> == 8, uint32_t, uint16_t>;
  if (first + kNf4Each<T> <= n) {
    *reinterpret_cast<Word*>(codes + first / 2) = static_cast<Word>(word);
  } else {
    for (int i = 0; i < kNf4Each<T>; i += 2)
      if (first + i < n) codes[(first + i) / 2] = static_cast<uint8_t>(word >> (4 * i));
  }
}

// A vector of x, with 0 from n on; and as much of one as there is of y. Both aligned to 16 bytes.
template <class T>
__device__ inline Vec<T> load16_up_to(const T* x, int64_t first, int64_t n) {
  if (first + kNf4Each<T> <= n) return load16(x + first);
  Vec<T> v;
#pragma unroll
  for (int i = 0; i < kNf4Each<T>; ++i) v[i] = first + i < n ? x[first + i] : from_float<T>(0);
  return v;
}
template <class T>
__device__ inline void store16_up_to(T* y, int64_t first, int64_t n, const Vec<T>& v) {
  if (first + kNf4Each<T> <= n) {
    store16(y + first, v);
  } else {
#pragma unroll
    for (int i = 0; i < kNf4Each<T>; ++i)
      if (first + i < n) y[first + i] = v[i];
  }
}

// What a word of codes stands for, by shuffles (day 17): `value` is nf4_value(lane % 16), and all lanes have to call this.
template <class T>
__device__ inline Vec<T> decode_nf4(unsigned word, float scale, float value) {
  Vec<T> v;
#pragma unroll
  for (int i = 0; i < kNf4Each<T>; ++i)
    v[i] = from_float<T>(__shfl_sync(kFullWarp, value, static_cast<int>(word >> nf4_shift(i))) * scale);
  return v;
}

}  // namespace days
