// SPDX-License-Identifier: MIT
// Floating-point numbers as whole ones that compare alike, which can be counted by digits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/types.h"

namespace day62 {

// The larger the number, the larger the bits; NaN is largest. A float's bits grow with its size, so those of
// negative ones are turned round. For 16-bit types the lower half is 0 (of NaN, too: it has all ones above).
template <class T>
__device__ inline uint32_t ordered_bits(T x) {
  const uint32_t bits = __float_as_uint(days::to_float(x));
  const uint32_t ordered = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  constexpr uint32_t kUsed = sizeof(T) == 2 ? 0xffff0000u : 0xffffffffu;
  return (days::to_float(x) != days::to_float(x) ? 0xffffffffu : ordered) & kUsed;
}

// An element and its column as one number that no other element of its row has: the larger element is the
// larger number, and of equal elements the one that comes first.
using Candidate = unsigned long long;
inline constexpr int kLastColumn = 0x7fffffff;
__device__ inline Candidate candidate(uint32_t ordered, int col) {
  return Candidate{ordered} << 32 | static_cast<uint32_t>(kLastColumn - col);
}
__device__ inline int column(Candidate c) {
  return kLastColumn - static_cast<int>(static_cast<uint32_t>(c));
}

}  // namespace day62
