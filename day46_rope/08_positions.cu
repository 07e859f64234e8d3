// SPDX-License-Identifier: MIT
// Each token says its position, and heads of q and k lie in one wide matrix, as a product makes it: two numbers more for a token, else
// vectors. Changed since vectors: the position comes from memory before the first angle can be made, so heads are asked for first.
// Bound by: memory; with few tokens, waits.
#include <cmath>

#include "common/vector.cuh"
#include "day46_rope/rope_at.h"
#include "day46_rope/turn.cuh"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) positions_kernel(RopeAt<T> p) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int64_t token = int64_t{blockIdx.x} * blockDim.z + threadIdx.z;
  if (token >= p.tokens) return;
  const int half = p.dim / 2, first = kEach * static_cast<int>(threadIdx.x);
  const int32_t position = p.positions[token];

  const auto head_at = [&](int head) -> Head<T> {
    const bool of_q = head < p.heads;
    const int64_t at = (of_q ? token * p.q_pitch : token * p.k_pitch) +
                       int64_t{of_q ? head : head - p.heads} * p.dim + first;
    return {(of_q ? p.q : p.k) + at, (of_q ? p.rotated_q : p.rotated_k) + at};
  };
  const int heads = p.heads + p.kv_heads, groups = static_cast<int>(blockDim.y);
  int head = static_cast<int>(threadIdx.y);  // below heads: there is no group without one
  days::Vec<T> a[kHeads], b[kHeads];
  const auto load = [&] {
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {  // all loads before the first is used
      if (head + j * groups >= heads) continue;
      const T* from = head_at(head + j * groups).from;
      a[j] = days::load16(from);
      b[j] = days::load16(from + half);
    }
  };
  load();
  const bool valid = position >= 0 && position < kMaxPosition;
  Turn turn[kEach];
  exact_turns(turn, p.turns, half, first, valid ? static_cast<float>(position) : NAN);
  while (true) {
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {
      if (head + j * groups >= heads) continue;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float x = days::to_float(a[j][i]), y = days::to_float(b[j][i]);
        a[j][i] = days::from_float<T>(x * turn[i].cosine - y * turn[i].sine);
        b[j][i] = days::from_float<T>(x * turn[i].sine + y * turn[i].cosine);
      }
      T* to = head_at(head + j * groups).to;
      days::store16(to, a[j]);
      days::store16(to + half, b[j]);
    }
    head += kHeads * groups;
    if (head >= heads) break;
    load();
  }
}

}  // namespace

template <class T>
void rope_positions(const RopeAt<T>& p, cudaStream_t stream) {
  require_problem(p, "positions");
  days::require_needs(p, "positions", kWholeTokens);
  Rope<T> same_size{};
  same_size.seq = p.tokens, same_size.heads = p.heads, same_size.kv_heads = p.kv_heads;
  const Blocks blocks = blocks_of_heads(same_size, "positions", p.dim / 2 / days::Vec<T>::kSize);
  positions_kernel<<<blocks.grid, blocks.block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_positions, RopeAt, float, days::half, days::bf16);

}  // namespace day46
