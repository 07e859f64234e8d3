// SPDX-License-Identifier: MIT
// Two numbers of 16 bits in a register, and each instruction for both: nothing is converted to fp32 at all.
// Changed since fast: half of the instructions and no conversions, for a rounding to 16 bits after each of them.
// Bound by: memory. What it gains is room for more arithmetic, as in a fused kernel.
// Teaches: __hfma2, tanh_approx.
#include "common/ptx.h"
#include "common/vector.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

// T2: __half2 or __nv_bfloat162
template <class T2>
__device__ inline T2 by_pairs(T2 x) {
  T2 half_of_one, of_x, of_x3;
  if constexpr (std::is_same_v<T2, __half2>) {
    half_of_one = __float2half2_rn(0.5f), of_x = __float2half2_rn(kTanhX), of_x3 = __float2half2_rn(kTanhX3);
  } else {
    half_of_one = __float2bfloat162_rn(0.5f), of_x = __float2bfloat162_rn(kTanhX);
    of_x3 = __float2bfloat162_rn(kTanhX3);
  }
  const T2 half = __hmul2(half_of_one, x), u = __hmul2(x, __hfma2(of_x3, __hmul2(x, x), of_x));
  return __hfma2(half, days::ptx::tanh_approx(u), half);
}

template <class T, class T2>
__global__ void __launch_bounds__(kThreads) pairs_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  constexpr int kEach = 8;
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kEach <= n) {
    uint4 word = *reinterpret_cast<const uint4*>(x + first);
    T2 pairs[kEach / 2];
    memcpy(static_cast<void*>(pairs), &word, 16);
#pragma unroll
    for (T2& pair : pairs) pair = by_pairs(pair);
    memcpy(&word, pairs, 16);
    *reinterpret_cast<uint4*>(y + first) = word;
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = by_pairs(T2(x[i], x[i])).x;  // a pair of the same
  }
}

template <class T2, class T>
void launch(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "pairs");
  pairs_kernel<T, T2><<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void gelu_pairs(const Gelu<days::half>& p, cudaStream_t stream) {
  launch<__half2>(p, stream);
}
void gelu_pairs(const Gelu<days::bf16>& p, cudaStream_t stream) {
  launch<__nv_bfloat162>(p, stream);
}

}  // namespace day07
