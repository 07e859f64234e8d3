// SPDX-License-Identifier: MIT
// A sum of 32 bits and what it is, in one word of 64: whoever sees one sees the other.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace day57 {

using Word = unsigned long long;
// The upper half. 0: nothing is published.
inline constexpr Word kOwn = Word{1} << 32;   // the sum is that of the tile's own elements
inline constexpr Word kUpTo = Word{2} << 32;  // nothing before the tile is to be added to it

template <class Sum>
__device__ inline Word word_of(Word what, Sum sum) {
  if constexpr (std::is_same_v<Sum, float>) {
    return what | __float_as_uint(sum);
  } else {
    return what | sum;
  }
}
template <class Sum>
__device__ inline Sum sum_in(Word word) {
  if constexpr (std::is_same_v<Sum, float>) {
    return __uint_as_float(static_cast<uint32_t>(word));
  } else {
    return static_cast<Sum>(word);
  }
}

}  // namespace day57
