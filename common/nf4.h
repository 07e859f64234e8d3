// SPDX-License-Identifier: MIT
//
// NF4, numbers of 4 bits as bitsandbytes stores them (csrc/kernels.cu): x is cut into blocks of 64 neighbours; each block has
// its largest size, absmax, and each element the code of the table's value that is nearest to x / absmax.
//
//   codes[i / 2] holds element i: the first of two in the UPPER half of the byte, the second in the lower.
//
// days::uint4x2 has them the other way round, so codes are plain bytes. Where n is odd the last byte's lower half has code 7,
// which is 0.
#pragma once

#include <cstdint>

#include "common/util.h"

namespace days {

inline constexpr int64_t kNf4Block = 64;

// The table. Quantiles of a normal distribution, but these sixteen literals are the format: whoever computes them is some
// bits off.
DAYS_HOST_DEVICE constexpr float nf4_value(unsigned code) {
  constexpr float kValues[16] = {
      -1.0f,
      -0.6961928009986877f,
      -0.5250730514526367f,
      -0.39491748809814453f,
      -0.28444138169288635f,
      -0.18477343022823334f,
      -0.09105003625154495f,
      0.0f,
      0.07958029955625534f,
      0.16093020141124725f,
      0.24611230194568634f,
      0.33791524171829224f,
      0.44070982933044434f,
      0.5626170039176941f,
      0.7229568362236023f,
      1.0f,
  };
  return kValues[code];
}

// The middle between the values of `code` and the next: what is above it has a larger code, and a tie keeps the lower one.
DAYS_HOST_DEVICE constexpr float nf4_threshold(unsigned code) {
  return (nf4_value(code) + nf4_value(code + 1)) / 2;
}

// What an element is multiplied by before it gets its code. A product with the reciprocal, not a quotient: their last bits differ,
// and with them some codes. Below 1e-38 the reciprocal would soon be infinite, and 0 times that is NaN, so it ends there; a
// block of zeros gets code 7. A NaN stays one.
DAYS_HOST_DEVICE inline float nf4_scale(float absmax) {
  return 1.0f / (absmax < 1e-38f ? 1e-38f : absmax);
}

// The code of a scaled element, by four comparisons. NaN, which is above nothing, gets 0.
DAYS_HOST_DEVICE inline unsigned nf4_code(float scaled) {
  unsigned code = 0;
  const bool half = scaled > nf4_threshold(7);
  const bool quarter = scaled > (half ? nf4_threshold(11) : nf4_threshold(3));
  const float upper = quarter ? nf4_threshold(13) : nf4_threshold(9);
  const float lower = quarter ? nf4_threshold(5) : nf4_threshold(1);
  const bool eighth = scaled > (half ? upper : lower);
  code = (half ? 8u : 0u) + (quarter ? 4u : 0u) + (eighth ? 2u : 0u);
  const float upper_two = eighth ? (quarter ? nf4_threshold(14) : nf4_threshold(10))
                                 : (quarter ? nf4_threshold(12) : nf4_threshold(8));
  const float lower_two = eighth ? (quarter ? nf4_threshold(6) : nf4_threshold(2))
                                 : (quarter ? nf4_threshold(4) : nf4_threshold(0));
  return code + (scaled > (half ? upper_two : lower_two) ? 1u : 0u);
}

// How far the bits of element i of a word of codes are from the word's right end. The word's lowest byte is its first.
DAYS_HOST_DEVICE constexpr int nf4_shift(int i) {
  return i / 2 * 8 + (i % 2 == 0 ? 4 : 0);
}

// Bytes of the codes of n elements, and their blocks.
constexpr int64_t nf4_bytes(int64_t n) {
  return ceil_div(n, int64_t{2});
}
constexpr int64_t nf4_blocks(int64_t n) {
  return ceil_div(n, kNf4Block);
}

}  // namespace days
