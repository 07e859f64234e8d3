// SPDX-License-Identifier: MIT
// Two numbers of 16 bits in a register, and each instruction for both. e^-x would not do: in fp16 it is infinite from
// x = -11.1 on, where the result, 1.5e-5, is still one of fp16's numbers. tanh is never above 1.
// Changed since tanh: nothing is converted to fp32; 1 instruction an element for the sum and product, and a rounding to
// 16 bits after each.
// Bound by: memory.
// Teaches: __hfma2, tanh_approx.
#include "common/ptx/tanh.h"
#include "common/vector.cuh"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

__device__ inline __half2 by_pairs(__half2 x) {
  const __half2 half = __float2half2_rn(0.5f);
  return __hfma2(half, days::ptx::tanh_approx(__hmul2(half, x)), half);
}

__device__ inline __nv_bfloat162 by_pairs(__nv_bfloat162 x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  // No arithmetic on bf16 before compute capability 8.0: each number goes through fp32.
  const auto sigmoid = [](float v) { return fmaf(0.5f, days::ptx::tanh_approx(0.5f * v), 0.5f); };
  return __floats2bfloat162_rn(sigmoid(__low2float(x)), sigmoid(__high2float(x)));
#else
  const __nv_bfloat162 half = __float2bfloat162_rn(0.5f);
  return __hfma2(half, days::ptx::tanh_approx(__hmul2(half, x)), half);
#endif
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
    memcpy(static_cast<void*>(&word), pairs, 16);
    *reinterpret_cast<uint4*>(y + first) = word;
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = by_pairs(T2(x[i], x[i])).x;  // a pair of the same
  }
}

}  // namespace

template <class T>
requires kSixteenBits<T>
void sigmoid_pairs(const Sigmoid<T>& p, cudaStream_t stream) {
  using T2 = std::conditional_t<std::is_same_v<T, days::half>, __half2, __nv_bfloat162>;
  const unsigned blocks = blocks_of(p, "pairs", kOfVector<T>);
  days::require_needs(p, "pairs", kAligned);
  pairs_kernel<T, T2><<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_pairs, Sigmoid, days::half, days::bf16);

}  // namespace day09
