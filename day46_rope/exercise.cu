// SPDX-License-Identifier: MIT
//
// Exercise: RoPE without a table. A thread owns one pair of one token, makes its sine and cosine once, exactly at any
// position below 2^24, and turns the pair in every head of q and of k.
// Gates: every element right for every shape, scaling and the hostile values; no race; one launch; at most 1.3 bytes
// loaded for each byte of input.
//   ./days check 46      tells how far you are        ./days hint 46      when you are stuck
#include "day46_rope/rope.h"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(Rope<T> p) {
  [[maybe_unused]] const int half = p.dim / 2;
  // 1. Which token's, and which pair of it, is this thread's? p.seq * half threads have one.
  // 2. The frequency in turns is p.turns[i] + p.turns[half + i], a large part and a small one.
  // 3. Of position * large part, take whole turns away (rintf), and with fmaf find what the product's rounding lost.
  // 4. sincospif(2 * turns, &sine, &cosine) takes turns, not radians.
  // 5. For each head of q (p.q to p.rotated_q) and of k: elements i and i + half become a cos - b sin and a sin + b cos.
  // your code
}

}  // namespace

template <class T>
void exercise(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const unsigned blocks = blocks_of_angles(p, "exercise");
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Rope, float, days::half, days::bf16);

}  // namespace day46
