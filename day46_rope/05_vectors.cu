// SPDX-License-Identifier: MIT
// vectors: 16 bytes of each half of a head, 4 or 8 pairs a thread, and four heads at the same time.
// Changed since turns: a quarter (an eighth) of the requests, and 128 bytes of a thread on their way, where there was a
// pair. A thread makes 4 or 8 angles for at least four heads, some five instructions an element in 16 bits.
// Bound by: memory.
//
// inverse: backward. A rotation's transpose is the rotation the other way, so the gradient is turned by the angle's
// negative: the same kernel with the other sign of the sine, and nothing of forward is kept.
// Bound by: memory.
#include "common/vector.cuh"
#include "day46_rope/rope.h"
#include "day46_rope/turn.cuh"

namespace day46 {
namespace {

template <int kSign, class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(Rope<T> p) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int64_t token = int64_t{blockIdx.x} * blockDim.z + threadIdx.z;
  if (token >= p.seq) return;
  const int half = p.dim / 2, first = kEach * static_cast<int>(threadIdx.x);

  Turn turn[kEach];
  exact_turns(turn, p.turns, half, first, static_cast<float>(p.start + token));
#pragma unroll
  for (Turn& one : turn) one.sine *= kSign;

  const int heads = p.heads + p.kv_heads, groups = static_cast<int>(blockDim.y);
  for (int head = static_cast<int>(threadIdx.y); head < heads; head += kHeads * groups) {
    days::Vec<T> a[kHeads], b[kHeads];
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {  // all loads before the first is used
      if (head + j * groups >= heads) continue;
      const T* from = head_of(p, token, head + j * groups).from + first;
      a[j] = days::load16(from);
      b[j] = days::load16(from + half);
    }
#pragma unroll
    for (int j = 0; j < kHeads; ++j) {
      if (head + j * groups >= heads) continue;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float x = days::to_float(a[j][i]), y = days::to_float(b[j][i]);
        a[j][i] = days::from_float<T>(x * turn[i].cosine - y * turn[i].sine);
        b[j][i] = days::from_float<T>(x * turn[i].sine + y * turn[i].cosine);
      }
      T* to = head_of(p, token, head + j * groups).to + first;
      days::store16(to, a[j]);
      days::store16(to + half, b[j]);
    }
  }
}

}  // namespace

template <class T>
void rope_vectors(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "vectors");
  days::require_needs(p, "vectors", kWholeHalves);
  const Blocks blocks = blocks_of_heads(p, "vectors", p.dim / 2 / days::Vec<T>::kSize);
  vectors_kernel<1><<<blocks.grid, blocks.block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void rope_inverse(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "inverse");
  days::require_needs(p, "inverse", kWholeHalves);
  const Blocks blocks = blocks_of_heads(p, "inverse", p.dim / 2 / days::Vec<T>::kSize);
  vectors_kernel<-1><<<blocks.grid, blocks.block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_vectors, Rope, float, days::half, days::bf16);
INSTANTIATE_LAUNCHER(rope_inverse, Rope, float, days::half, days::bf16);

}  // namespace day46
