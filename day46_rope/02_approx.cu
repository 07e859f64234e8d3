// SPDX-License-Identifier: MIT
// The same by the special function unit: sine and cosine are an instruction each (__sinf and __cosf are these).
// Changed since product: 41 instructions an element for 58, and no slower way far out. The unit wants turns, so the angle
// is multiplied by 1 / (2 pi) first, which rounds once more, towards 0: an H200's worst element was off 2.3 times as far.
// Bound by: waits, and in 16 bits the issue of instructions still; a third of these 41 find the pair's head.
// Teaches: sin_approx_ftz, cos_approx_ftz.
#include "common/ptx/sincos.h"
#include "day46_rope/rope.h"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) approx_kernel(const T* x,              // (seq, heads, dim)
                                                          T* y,                    // (seq, heads, dim)
                                                          const float* frequency,  // (dim / 2)
                                                          int64_t start, int heads, int half) {
  const unsigned n = blockIdx.y * kThreads + threadIdx.x;  // of the token's pairs
  if (n >= static_cast<unsigned>(heads * half)) return;
  const int64_t token = blockIdx.x;
  const int head = static_cast<int>(n) / half, i = static_cast<int>(n) % half;
  const float angle = static_cast<float>(start + token) * frequency[i];
  const float sine = days::ptx::sin_approx_ftz(angle), cosine = days::ptx::cos_approx_ftz(angle);
  const int64_t at = (token * heads + head) * 2 * half + i;
  const float a = days::to_float(x[at]), b = days::to_float(x[at + half]);
  y[at] = days::from_float<T>(a * cosine - b * sine);
  y[at + half] = days::from_float<T>(a * sine + b * cosine);
}

}  // namespace

template <class T>
void rope_approx(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "approx");
  const int half = p.dim / 2;
  const dim3 of_q = blocks_of_pairs(p, "approx", p.heads), of_k = blocks_of_pairs(p, "approx", p.kv_heads);
  approx_kernel<<<of_q, kThreads, 0, stream>>>(p.q, p.rotated_q, p.frequency, p.start, p.heads, half);
  CUDA_CHECK_LAUNCH();
  approx_kernel<<<of_k, kThreads, 0, stream>>>(p.k, p.rotated_k, p.frequency, p.start, p.kv_heads, half);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_approx, Rope, float, days::half, days::bf16);

}  // namespace day46
