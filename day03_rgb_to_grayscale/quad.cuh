// SPDX-License-Identifier: MIT
//
// Four pixels at once, for the rungs that load whole words: 12 bytes of colour become 4 bytes of gray.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {

// The three words hold RGBR GBRG BRGB. __dp4a multiplies four bytes with four weights and adds all up: one
// instruction a pixel, once its three bytes stand in one word. A fourth byte that is not the pixel's gets the
// weight 0, so the first pixel needs no move, and the last one only weights that have moved.
__device__ inline uint32_t gray_of_words(uint32_t a, uint32_t b, uint32_t c) {
  constexpr uint32_t kLow = kRed | kGreen << 8 | kBlue << 16, kHigh = kLow << 8;
  const uint32_t g0 = __dp4a(a, kLow, 128u);                          // bytes 0 1 2 of a
  const uint32_t g1 = __dp4a(__byte_perm(a, b, 0x6543), kLow, 128u);  // byte 3 of a, 0 1 of b
  const uint32_t g2 = __dp4a(__byte_perm(b, c, 0x5432), kLow, 128u);  // bytes 2 3 of b, 0 of c
  const uint32_t g3 = __dp4a(c, kHigh, 128u);                         // bytes 1 2 3 of c
  // >> 8 is "take byte 1"; four of those side by side are the result.
  return __byte_perm(__byte_perm(g0, g1, 0x0051), __byte_perm(g2, g3, 0x0051), 0x5410);
}
__device__ inline float gray_of_words(float red, float green, float blue) {
  return gray_of(red, green, blue);
}

// Sixteen bytes of T as four words.
template <class T>
struct Words;
template <>
struct Words<uint8_t> {
  using Four = uint4;
};
template <>
struct Words<float> {
  using Four = float4;
};
template <class T>
using Four = typename Words<T>::Four;

// Pixels in 16 bytes of gray, whose colours take 48 bytes: 16 of uint8_t, 4 of float.
template <class T>
inline constexpr int kQuad = 16 / static_cast<int>(sizeof(T));

// 48 bytes of colour to 16 bytes of gray. Words of bytes and floats fall into threes in the same way.
template <class F>
__device__ inline F gray_of_48_bytes(F a, F b, F c) {
  F gray;
  gray.x = gray_of_words(a.x, a.y, a.z);
  gray.y = gray_of_words(a.w, b.x, b.y);
  gray.z = gray_of_words(b.z, b.w, c.x);
  gray.w = gray_of_words(c.y, c.z, c.w);
  return gray;
}

// Pixels [first, n), at most a few, one by one: what is left at the end of the picture.
template <class T>
__device__ inline void gray_of_rest(const T* rgb, T* gray, int64_t first, int64_t n) {
  for (int64_t i = first; i < n; ++i) gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

}  // namespace day03
