// SPDX-License-Identifier: MIT
// Day 46: RoPE where each token says its position, and heads lie in a wider matrix: what a server has that writes many texts at once. The
// problem, and the launcher that solves it. Element types fp32, fp16 and bf16; all arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "day46_rope/frequencies.h"
#include "day46_rope/rope.h"

namespace day46 {

// Turns pairs as Rope does, in halves: element i of a head with dim / 2 + i. A token's position is 0 to 2^24 - 1; any other, which
// only the device knows, makes NaN of all of the token's heads. What lies between one token's heads and the next one's is neither read nor
// written.
template <class T>
struct RopeAt {
  const T* q;                // (tokens, heads, dim), a token q_pitch elements behind the last one
  const T* k;                // (tokens, kv_heads, dim), k_pitch likewise
  const int32_t* positions;  // (tokens)
  const float* turns;        // (2, dim / 2), as in Rope
  T* rotated_q;              // as q: q itself or apart from all inputs
  T* rotated_k;              // as k: k itself or apart from all inputs
  int64_t tokens, q_pitch, k_pitch;
  int heads, kv_heads, dim;
  Scaling scaling;  // for the CPU's versions
};

template <class T>
void require_problem(const RopeAt<T>& p, const char* variant) {
  days::require(p.tokens > 0, variant, ": tokens must be positive, not", p.tokens);
  days::require(p.heads > 0, variant, ": heads must be positive, not", p.heads);
  days::require(p.kv_heads > 0, variant, ": kv_heads must be positive, not", p.kv_heads);
  days::require(p.dim > 0 && p.dim % 2 == 0, variant, ": dim must be positive and even, not", p.dim);
  days::require(p.heads <= days::kMaxGridX / p.dim && p.kv_heads <= days::kMaxGridX / p.dim, variant,
                ": a token has at most 2^31 elements; heads", p.heads, ", kv_heads", p.kv_heads, ", dim",
                p.dim);
  const int64_t of_q = int64_t{p.heads} * p.dim, of_k = int64_t{p.kv_heads} * p.dim;
  days::require(p.q_pitch >= of_q && p.k_pitch >= of_k, variant,
                ": a pitch is at least its heads; q_pitch is", p.q_pitch, ", k_pitch", p.k_pitch);
  constexpr int64_t kMost = int64_t{1} << 56;
  days::require(p.tokens <= kMost / p.q_pitch && p.tokens <= kMost / p.k_pitch, variant,
                ": too many tokens:", p.tokens, ", q_pitch", p.q_pitch, ", k_pitch", p.k_pitch);
  const int64_t before = p.tokens - 1;
  days::require(days::same_or_apart(p.q, p.rotated_q, before * p.q_pitch + of_q) &&
                    days::same_or_apart(p.k, p.rotated_k, before * p.k_pitch + of_k),
                variant, ": rotated_q and rotated_k must be q and k or lie apart from them");
}

// 16 bytes at a time: all arrays aligned; pitches and halves of heads of whole vectors.
inline constexpr auto kWholeTokens =
    days::needs("aligned, pitches and half heads of whole 16 bytes, dim <= 2048", [](const auto& p) {
      constexpr int kVector = 16 / static_cast<int>(sizeof(*p.q));
      return aligned(p) && p.dim % (2 * kVector) == 0 && p.dim <= 2048 && p.q_pitch % kVector == 0 &&
             p.k_pitch % kVector == 0;
    });

template <class T>
void rope_positions(const RopeAt<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double, and what all cores do in fp32.
template <class T>
void rope_at_reference(const RopeAt<T>&);
template <class T>
void rope_at_parallel(const RopeAt<T>&);

}  // namespace day46
