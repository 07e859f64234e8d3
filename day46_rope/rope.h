// SPDX-License-Identifier: MIT
// Day 46: rotary position embedding. The problem, and the launchers that solve it. Element types fp32, fp16 and bf16; all
// arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "day46_rope/frequencies.h"

namespace day46 {

// Every pair (a, b) of a head is turned by the angle t = position * frequency of its pair:
//   a cos t - b sin t,  a sin t + b cos t
// Halves: the pair i of a head is its elements i and dim / 2 + i (Llama, NeoX). Interleaved: 2 i and 2 i + 1 (RoFormer,
// GPT-J). The ladder says which. A NaN or an infinity spoils its own pair alone. Backward turns the other way: q and k
// are then the gradients that come in, rotated_q and rotated_k those that go out.
//
// Token t has the position start + t. Frequencies are given in three ways, of which each rung takes one; all are made from
// `scaling` by frequencies.h.
template <class T>
struct Rope {
  const T* q;              // (seq, heads, dim)
  const T* k;              // (seq, kv_heads, dim)
  const float* frequency;  // (dim / 2), radians from a position to the next
  const float*
      turns;  // (2, dim / 2), turns from a position to the next: the sum of two floats, large and small
  const float* cosines;  // (positions, dim / 2), of positions from table_start on
  const float* sines;    // (positions, dim / 2)
  T* rotated_q;          // (seq, heads, dim), q itself or apart from all inputs
  T* rotated_k;          // (seq, kv_heads, dim), k itself or apart from all inputs
  int64_t start, seq;
  int heads, kv_heads, dim;
  int64_t table_start, positions;
  Scaling scaling;  // for the CPU's versions
};

inline constexpr int kThreads = 256;  // of a block, about

// Whole numbers from here on are not all floats.
inline constexpr int64_t kMaxPosition = int64_t{1} << 24;

template <class T>
void require_problem(const Rope<T>& p, const char* variant) {
  days::require(p.seq > 0, variant, ": seq must be positive, not", p.seq);
  days::require(p.heads > 0, variant, ": heads must be positive, not", p.heads);
  days::require(p.kv_heads > 0, variant, ": kv_heads must be positive, not", p.kv_heads);
  days::require(p.dim > 0 && p.dim % 2 == 0, variant, ": dim must be positive and even, not", p.dim);
  days::require(p.start >= 0, variant, ": start must not be negative, and is", p.start);
  days::require(p.start < kMaxPosition && p.seq <= kMaxPosition - p.start, variant,
                ": positions must be below 2^24, which fp32 counts to; start is", p.start, ", seq", p.seq);
  days::require(p.heads <= days::kMaxGridX / p.dim && p.kv_heads <= days::kMaxGridX / p.dim, variant,
                ": a token has at most 2^31 elements; heads", p.heads, ", kv_heads", p.kv_heads, ", dim",
                p.dim);
  const int64_t of_q = p.seq * p.heads * p.dim, of_k = p.seq * p.kv_heads * p.dim;
  days::require(days::same_or_apart(p.q, p.rotated_q, of_q) && days::same_or_apart(p.k, p.rotated_k, of_k),
                variant, ": rotated_q and rotated_k must be q and k or lie apart from them");
}
// What a table does not hold is refused: a kernel would read past its end.
template <class T>
void require_table(const Rope<T>& p, const char* variant) {
  days::require(p.start >= p.table_start && p.start + p.seq <= p.table_start + p.positions, variant,
                ": the table begins at position", p.table_start, " and has", p.positions, "; asked for are",
                p.seq, " from", p.start);
}
// Blocks where each pair of each of a token's `heads` heads has a thread: block (t, b) has part b of token t.
template <class T>
dim3 blocks_of_pairs(const Rope<T>& p, const char* variant, int64_t heads) {
  const int64_t parts = days::ceil_div(heads * (p.dim / 2), int64_t{kThreads});
  days::require(parts <= 65535, variant, ": a token has too many heads for one grid:", heads, ", dim", p.dim);
  return dim3(static_cast<unsigned>(p.seq), static_cast<unsigned>(parts));
}
// Blocks where a pair of a token has a thread, for all heads.
template <class T>
unsigned blocks_of_angles(const Rope<T>& p, const char* variant) {
  const int64_t angles = p.seq * (p.dim / 2);
  days::require(angles < int64_t{1} << 32, variant, ": at most 2^32 angles, not", angles);
  return static_cast<unsigned>(days::ceil_div(angles, int64_t{kThreads}));
}

// 16 bytes at a time: all arrays aligned, and heads (halves of heads) of whole vectors. A block has a thread for each of
// these, which bounds dim.
template <class P>
bool aligned(const P& p) {
  return days::aligned16(p.q, p.k, p.rotated_q, p.rotated_k) && days::aligned16(p.turns);
}
inline constexpr auto kWholeHalves =
    days::needs("aligned, half heads of whole 16 bytes, dim <= 2048", [](const auto& p) {
      return aligned(p) && p.dim % (32 / static_cast<int>(sizeof(*p.q))) == 0 && p.dim <= 2048;
    });
inline constexpr auto kWholeHeads =
    days::needs("aligned, heads of whole 16 bytes, dim <= 1024", [](const auto& p) {
      return aligned(p) && p.dim % (16 / static_cast<int>(sizeof(*p.q))) == 0 && p.dim <= 1024;
    });

// Angles are products in fp32, whose error grows with the position.
template <class T>
void rope_product(const Rope<T>&, cudaStream_t);
template <class T>
void rope_approx(const Rope<T>&, cudaStream_t);

// Exact angles, halves.
template <class T>
void rope_table(const Rope<T>&, cudaStream_t);
template <class T>
void rope_turns(const Rope<T>&, cudaStream_t);
template <class T>
void rope_vectors(const Rope<T>&, cudaStream_t);
template <class T>
void exercise(const Rope<T>&, cudaStream_t);  // yours

// Exact angles, interleaved; and the other way round, halves.
template <class T>
void rope_interleaved(const Rope<T>&, cudaStream_t);
template <class T>
void rope_inverse(const Rope<T>&, cudaStream_t);

// On the CPU, host pointers: the truth in double, and what all cores do in fp32.
template <class T>
void rope_reference(const Rope<T>&);
template <class T>
void rope_parallel(const Rope<T>&);
template <class T>
void rope_interleaved_reference(const Rope<T>&);
template <class T>
void rope_interleaved_parallel(const Rope<T>&);
template <class T>
void rope_backward_reference(const Rope<T>&);
template <class T>
void rope_backward_parallel(const Rope<T>&);

}  // namespace day46
