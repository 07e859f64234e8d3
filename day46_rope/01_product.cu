// SPDX-License-Identifier: MIT
// One thread, one pair of one head. The angle as every textbook has it, position * frequency, in fp32; q and k by a launch
// each. Near 100,000 two neighbouring floats are 1/128 apart, and so an angle of that size is off by up to 1/256 before
// anybody takes its sine.
// Bound by: the issue of instructions in 16 bits, 58 for each element where memory gives time for 31. From 105,615 on
// sincosf takes a slower way, which loops over the digits of pi.
// Teaches: sincosf.
#include "day46_rope/rope.h"

namespace day46 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) product_kernel(const T* x,              // (seq, heads, dim)
                                                           T* y,                    // (seq, heads, dim)
                                                           const float* frequency,  // (dim / 2)
                                                           int64_t start, int heads, int half) {
  const unsigned n = blockIdx.y * kThreads + threadIdx.x;  // of the token's pairs
  if (n >= static_cast<unsigned>(heads * half)) return;
  const int64_t token = blockIdx.x;
  const int head = static_cast<int>(n) / half, i = static_cast<int>(n) % half;
  const float position = static_cast<float>(start + token);
  float sine, cosine;
  sincosf(position * frequency[i], &sine, &cosine);
  const int64_t at = (token * heads + head) * 2 * half + i;
  const float a = days::to_float(x[at]), b = days::to_float(x[at + half]);
  y[at] = days::from_float<T>(a * cosine - b * sine);
  y[at + half] = days::from_float<T>(a * sine + b * cosine);
}

}  // namespace

template <class T>
void rope_product(const Rope<T>& p, cudaStream_t stream) {
  require_problem(p, "product");
  const int half = p.dim / 2;
  const dim3 of_q = blocks_of_pairs(p, "product", p.heads), of_k = blocks_of_pairs(p, "product", p.kv_heads);
  product_kernel<<<of_q, kThreads, 0, stream>>>(p.q, p.rotated_q, p.frequency, p.start, p.heads, half);
  CUDA_CHECK_LAUNCH();
  product_kernel<<<of_k, kThreads, 0, stream>>>(p.k, p.rotated_k, p.frequency, p.start, p.kv_heads, half);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(rope_product, Rope, float, days::half, days::bf16);

}  // namespace day46
