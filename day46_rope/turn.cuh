// SPDX-License-Identifier: MIT
// What the rungs with vectors share: rung 4's exact angle, which heads a thread takes, and the blocks.
#pragma once

#include <cuda_runtime.h>

#include "common/vector.cuh"
#include "day46_rope/rope.h"

namespace day46 {

struct Turn {
  float sine, cosine;
};
// As rung 4 has it, at a position below 2^24.
__device__ inline Turn exact_turn(float high, float low, float position) {
  const float turns = position * high, lost = fmaf(position, high, -turns);
  Turn turn;
  sincospif(2 * ((turns - rintf(turns)) + fmaf(position, low, lost)), &turn.sine, &turn.cosine);
  return turn;
}
// Of kPairs pairs, 2 or a multiple of 4, from `first` on, which kPairs divides. `turns` has `half` large parts, then as many
// small ones, so that a vector of each is kPairs pairs'.
template <int kPairs>
__device__ inline void exact_turns(Turn (&turn)[kPairs], const float* turns, int half, int first,
                                   float position) {
  if constexpr (kPairs == 2) {
    const days::HalfVec<float> high = days::load8(turns + first), low = days::load8(turns + half + first);
#pragma unroll
    for (int i = 0; i < 2; ++i) turn[i] = exact_turn(high[i], low[i], position);
  } else {
#pragma unroll
    for (int from = 0; from < kPairs; from += 4) {
      const days::Vec<float> high = days::load16(turns + first + from),
                             low = days::load16(turns + half + first + from);
#pragma unroll
      for (int i = 0; i < 4; ++i) turn[from + i] = exact_turn(high[i], low[i], position);
    }
  }
}

// A head of q or k of a token.
template <class T>
struct Head {
  const T* from;
  T* to;
};
template <class T>
__device__ inline Head<T> head_of(const Rope<T>& p, int64_t token, int head) {
  const bool of_q = head < p.heads;
  const int64_t at = (of_q ? token * p.heads + head : token * p.kv_heads + head - p.heads) * p.dim;
  return {(of_q ? p.q : p.k) + at, (of_q ? p.rotated_q : p.rotated_k) + at};
}

inline constexpr int kMaxBlockZ = 64;  // CUDA's, of any device
inline constexpr int kHeads = 4;       // that a thread has on their way at the same time

// A block is (lanes, groups, tokens): `lanes` threads have a head's vectors, and group g the heads g, g + groups,
// g + 2 * groups, ...
struct Blocks {
  dim3 block;
  unsigned grid;
};
template <class T>
Blocks blocks_of_heads(const Rope<T>& p, const char* variant, int lanes) {
  const int64_t heads = int64_t{p.heads} + p.kv_heads;
  const int64_t most = kThreads / lanes, wanted = days::ceil_div(heads, int64_t{kHeads});
  const int64_t groups = wanted < most ? wanted : most;
  const int64_t room = kThreads / (lanes * groups);  // at least 1: lanes * groups <= kThreads
  const int64_t tokens = room < kMaxBlockZ ? room : kMaxBlockZ;
  const int64_t grid = days::ceil_div(p.seq, tokens);
  days::require(grid <= days::kMaxGridX, variant, ": too large for one grid, seq", p.seq);
  return {dim3(static_cast<unsigned>(lanes), static_cast<unsigned>(groups), static_cast<unsigned>(tokens)),
          static_cast<unsigned>(grid)};
}

}  // namespace day46
