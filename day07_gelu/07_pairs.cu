// SPDX-License-Identifier: MIT
// Two numbers of 16 bits in a register, and each instruction for both: nothing is converted to fp32 at all.
// Changed since fast: 7 instructions an element for 11, and a rounding to 16 bits after each of them. MUFU are as many:
// the special function unit takes the two numbers of a pair one after the other.
// Bound by: memory. What it gains is room for more arithmetic, as in a fused kernel.
// Teaches: __hfma2, tanh_approx.
#include "common/ptx/tanh.h"
#include "common/vector.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

// T2: __half2 or __nv_bfloat162
template <class T2>
__device__ inline T2 by_pairs(T2 x, T2 half_of_one, T2 of_x, T2 of_x3) {
  const T2 half = __hmul2(half_of_one, x), u = __hmul2(x, __hfma2(of_x3, __hmul2(x, x), of_x));
  return __hfma2(half, days::ptx::tanh_approx(u), half);
}

__device__ inline __half2 by_pairs(__half2 x) {
  return by_pairs(x, __float2half2_rn(0.5f), __float2half2_rn(kTanhX), __float2half2_rn(kTanhX3));
}

__device__ inline __nv_bfloat162 by_pairs(__nv_bfloat162 x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  // No arithmetic on bf16 before compute capability 8.0: each number goes through fp32.
  const auto gelu = [](float v) {
    const float half = 0.5f * v;
    return fmaf(half, days::ptx::tanh_approx(v * fmaf(kTanhX3, v * v, kTanhX)), half);
  };
  return __floats2bfloat162_rn(gelu(__low2float(x)), gelu(__high2float(x)));
#else
  return by_pairs(x, __float2bfloat162_rn(0.5f), __float2bfloat162_rn(kTanhX), __float2bfloat162_rn(kTanhX3));
#endif
}

template <class T, class T2>
__global__ void __launch_bounds__(kThreads) pairs_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  constexpr int kEach = 8;
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kEach <= n) {
    uint4 word = *reinterpret_cast<const uint4*>(x + first);
    T2 pairs[kEach / 2];
    memcpy(static_cast<void*>(pairs), &word, sizeof word);
#pragma unroll
    for (T2& pair : pairs) pair = by_pairs(pair);
    memcpy(static_cast<void*>(&word), pairs, sizeof word);
    *reinterpret_cast<uint4*>(y + first) = word;
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = by_pairs(T2(x[i], x[i])).x;  // a pair of the same
  }
}

}  // namespace

template <class T>
requires kSixteenBits<T>
void gelu_pairs(const Gelu<T>& p, cudaStream_t stream) {
  using T2 = std::conditional_t<std::is_same_v<T, days::half>, __half2, __nv_bfloat162>;
  const unsigned blocks = blocks_of_vectors(p, "pairs");
  pairs_kernel<T, T2><<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_pairs, Gelu, days::half, days::bf16);

}  // namespace day07
