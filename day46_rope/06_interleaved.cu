// SPDX-License-Identifier: MIT
// Interleaved pairs: the two numbers of a pair are neighbours, so one load of 16 bytes holds 2 or 4 whole pairs.
// Changed since vectors: one vector of a head a thread where there were two, with half as many angles. All else is
// the same, and so are the bytes; but a model that was trained on one order of pairs is noise in the other.
// Bound by: memory.
#include "common/vector.cuh"
#include "day46_rope/rope.h"
#include "day46_rope/turn.cuh"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) interleaved_kernel(Rope<T> p) {
  constexpr int kEach = days::Vec<T>::kSize, kPairs = kEach / 2;
  const int64_t token = int64_t{blockIdx.x} * blockDim.z + threadIdx.z;
  if (token >= p.seq) return;
  const int lane = static_cast<int>(threadIdx.x);

  Turn turn[kPairs];
  exact_turns(turn, p.turns, p.dim / 2, kPairs * lane, static_cast<float>(p.start + token));

  const int heads = p.heads + p.kv_heads, groups = static_cast<int>(blockDim.y);
  for (int head = static_cast<int>(threadIdx.y); head < heads; head += kHeads * groups) {
    days::Vec<T> v[kHeads];
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {
      if (head + j * groups < heads)
        v[j] = days::load16(head_of(p, token, head + j * groups).from + kEach * lane);
    }
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {
      if (head + j * groups >= heads) continue;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const float a = days::to_float(v[j][2 * i]), b = days::to_float(v[j][2 * i + 1]);
        v[j][2 * i] = days::from_float<T>(a * turn[i].cosine - b * turn[i].sine);
        v[j][2 * i + 1] = days::from_float<T>(a * turn[i].sine + b * turn[i].cosine);
      }
      days::store16(head_of(p, token, head + j * groups).to + kEach * lane, v[j]);
    }
  }
}

}  // namespace

template <class T>
void rope_interleaved(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "interleaved");
  days::require_needs(p, "interleaved", kWholeHeads);
  const Blocks blocks = blocks_of_heads(p, "interleaved", p.dim / days::Vec<T>::kSize);
  interleaved_kernel<<<blocks.grid, blocks.block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_interleaved, Rope, float, days::half, days::bf16);

}  // namespace day46
