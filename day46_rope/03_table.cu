// SPDX-License-Identifier: MIT
// Sines and cosines from a table that somebody has made in double: exact at every position that it holds, and no other.
// Changed since product: no angle at all. A thread loads a sine and a cosine beside its two elements, so in fp32 half of
// what is loaded is table, in 16 bits two thirds; other heads of the same token load the same again.
// Bound by: loads, and how few bytes of q a thread has on their way.
#include "day46_rope/rope.h"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) table_kernel(const T* x,            // (seq, heads, dim)
                                                         T* y,                  // (seq, heads, dim)
                                                         const float* cosines,  // (seq, dim / 2)
                                                         const float* sines,    // (seq, dim / 2)
                                                         int heads, int half) {
  const unsigned n = blockIdx.y * kThreads + threadIdx.x;  // of the token's pairs
  if (n >= static_cast<unsigned>(heads * half)) return;
  const int64_t token = blockIdx.x;
  const int head = static_cast<int>(n) / half, i = static_cast<int>(n) % half;
  const float cosine = cosines[token * half + i], sine = sines[token * half + i];
  const int64_t at = (token * heads + head) * 2 * half + i;
  const float a = days::to_float(x[at]), b = days::to_float(x[at + half]);
  y[at] = days::from_float<T>(a * cosine - b * sine);
  y[at + half] = days::from_float<T>(a * sine + b * cosine);
}

}  // namespace

template <class T>
void rope_table(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "table");
  require_table(p, "table");
  const int half = p.dim / 2;
  const dim3 of_q = blocks_of_pairs(p, "table", p.heads), of_k = blocks_of_pairs(p, "table", p.kv_heads);
  const float* cosines = p.cosines + (p.start - p.table_start) * half;
  const float* sines = p.sines + (p.start - p.table_start) * half;
  table_kernel<<<of_q, kThreads, 0, stream>>>(p.q, p.rotated_q, cosines, sines, p.heads, half);
  CUDA_CHECK_LAUNCH();
  table_kernel<<<of_k, kThreads, 0, stream>>>(p.k, p.rotated_k, cosines, sines, p.kv_heads, half);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_table, Rope, float, days::half, days::bf16);

}  // namespace day46
