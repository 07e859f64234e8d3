// SPDX-License-Identifier: MIT
//
// What rungs from `fragments` on share: codes as pairs of T, tokens in shared memory, and how sums leave.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/ptx/logic.h"
#include "common/types.h"
#include "common/util.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {

// Calls run(std::integral_constant) with the tiles of 8 tokens that a kernel is compiled for and that hold m of them.
template <int kMost = kMostTokens, class Run>
void for_tokens(int m, const Run& run) {
  if (m <= 8) return run(std::integral_constant<int, 1>{});
  if (m <= 16) return run(std::integral_constant<int, 2>{});
  if (m <= 32) return run(std::integral_constant<int, 4>{});
  if constexpr (kMost > 32) run(std::integral_constant<int, 8>{});
}

// Two numbers of T in a register, the first in its lower half.
template <class T>
using Two = std::conditional_t<std::is_same_v<T, days::half>, __half2, __nv_bfloat162>;
template <class T>
__device__ __forceinline__ Two<T> two_of(uint32_t bits) {
  Two<T> two;
  memcpy(static_cast<void*>(&two), &bits, sizeof two);
  return two;
}
template <class T>
__device__ __forceinline__ uint32_t bits_of(Two<T> two) {
  uint32_t bits;
  memcpy(&bits, &two, sizeof bits);
  return bits;
}
__device__ __forceinline__ float2 floats_of(__half2 two) {
  return __half22float2(two);
}
__device__ __forceinline__ float2 floats_of(__nv_bfloat162 two) {
  return __bfloat1622float2(two);
}
__device__ __forceinline__ float2 floats_of(float2 two) {
  return two;
}

// The bits of `word` that the mask has, in those of `magic`, by one instruction.
__device__ __forceinline__ uint32_t take(uint32_t word, uint32_t mask, uint32_t magic) {
  return days::ptx::lop3<(days::ptx::kA & days::ptx::kB) | days::ptx::kC>(word, mask, magic);
}

// Eight codes of 4 bits, less 8, by their bits: magic's. Pair i has the codes at bits 4 * i and 4 * i + 16 of the word.
template <class T>
__device__ __forceinline__ void eight_of(uint32_t word, uint32_t (&pair)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (std::is_same_v<T, days::bf16>) {
      pair[i] =
          bits_of<T>(__hsub2(two_of<T>(take(word >> 4 * i, 0x000f000f, 0x43004300)), two_of<T>(0x43084308)));
    } else if (i % 2 == 0) {
      pair[i] =
          bits_of<T>(__hsub2(two_of<T>(take(word >> 4 * i, 0x000f000f, 0x64006400)), two_of<T>(0x64086408)));
    } else {
      pair[i] = bits_of<T>(__hfma2(two_of<T>(take(word >> 4 * (i - 1), 0x00f000f0, 0x64006400)),
                                   two_of<T>(0x2c002c00), two_of<T>(0xd480d480)));
    }
  }
}

// Tokens in shared memory, kTileDepth numbers of each, in chunks of 16 bytes. Lane 4 * g + t of a warp wants chunk
// 4 * i + t of token g. Eight neighbouring lanes have two tokens and four chunks, which lie in all 32 banks, because odd
// tokens have every four chunks where even ones have the next.
template <int kTokens>
struct Tokens {
  static constexpr int kChunks = kTileDepth * 2 / 16;
  uint4 chunk[kTokens * kChunks];

  __device__ static int place(int token, int of_token) {
    return token * kChunks + (of_token ^ token % 2 * 4);
  }
  __device__ uint4& at(int token, int of_token) { return chunk[place(token, of_token)]; }
  __device__ const uint4& at(int token, int of_token) const { return chunk[place(token, of_token)]; }
};

// Sums of an mma, whose lane 4 * g + t has rows g and g + 8 of W and tokens 2 * t and 2 * t + 1.
template <class T>
__device__ __forceinline__ void store_sums(T* y, int m, int n, int token, int row, const float (&sum)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int t = token + lane % 4 * 2 + i % 2, r = row + lane / 4 + i / 2 * 8;
    if (t < m && r < n) y[int64_t{t} * n + r] = days::from_float<T>(sum[i]);
  }
}

}  // namespace day75
