// SPDX-License-Identifier: MIT
// A pair has one angle for all heads of a token. So a thread owns one pair of one token, makes sine and cosine once, and
// turns the pair in every head of q and k. Angles are counted in turns, with a frequency of two floats. The product is
// rounded, fmaf gives back what that lost, and so the error does not grow: 1e-7 at position 1, 2e-7 at 1,000,000.
// Changed since table: one launch for q and k, and about one byte loaded for each byte of q and k, not two to three.
// Bound by: how few bytes a thread has on their way, one pair at a time.
// Teaches: sincospif.
#include "day46_rope/rope.h"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) turns_kernel(Rope<T> p) {
  const unsigned half = static_cast<unsigned>(p.dim / 2);
  const uint64_t n = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (n >= p.seq * uint64_t{half}) return;
  const unsigned token = static_cast<unsigned>(n) / half, i = static_cast<unsigned>(n) % half;

  const float position = static_cast<float>(p.start + token);  // exact: below 2^24
  const float high = p.turns[i], low = p.turns[half + i];
  const float turns = position * high;              // rounded,
  const float lost = fmaf(position, high, -turns);  // and this is exactly what the rounding lost
  const float part = (turns - rintf(turns)) + fmaf(position, low, lost);  // of a turn, from about -1/2 to 1/2
  float sine, cosine;
  sincospif(2 * part, &sine, &cosine);

  for (int head = 0; head < p.heads + p.kv_heads; ++head) {
    const bool of_q = head < p.heads;
    const int64_t row = of_q ? int64_t{token} * p.heads + head : int64_t{token} * p.kv_heads + head - p.heads;
    const T* x = (of_q ? p.q : p.k) + row * p.dim;
    T* y = (of_q ? p.rotated_q : p.rotated_k) + row * p.dim;
    const float a = days::to_float(x[i]), b = days::to_float(x[i + half]);
    y[i] = days::from_float<T>(a * cosine - b * sine);
    y[i + half] = days::from_float<T>(a * sine + b * cosine);
  }
}

}  // namespace

template <class T>
void rope_turns(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "turns");
  const unsigned blocks = blocks_of_angles(p, "turns");
  turns_kernel<<<blocks, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_turns, Rope, float, days::half, days::bf16);

}  // namespace day46
