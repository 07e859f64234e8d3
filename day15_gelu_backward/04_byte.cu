// SPDX-License-Identifier: MIT
// The slope again, in one byte: it lies between -0.129 and 1.129, and 253 steps of 0.005 cover that.
// Changed since slope: a byte is kept where it was a T, so that an fp32 element moves 18 bytes in all, less than
// recompute's 20, and one of 16 bits 10, as many as there. The price: dx is off by up to 0.0025 of dy.
// Bound by: memory.
#include <type_traits>

#include "day15_gelu_backward/gelu_backward.h"
#include "day15_gelu_backward/vectors.cuh"

namespace day15 {
namespace {

// As many codes as a thread has elements, in one store or load of 4 or 8 bytes, or of a single one.
template <int kCount>
using Codes = std::conditional_t<kCount == 8, uint2, std::conditional_t<kCount == 4, uint32_t, uint8_t>>;

__device__ inline uint8_t encode(float slope) {
  if (slope != slope) return kNanCode;
  return static_cast<uint8_t>(__float2int_rn(fmaf(slope, kSteps, kZeroCode)));
}
__device__ inline float decode(uint8_t code) {
  if (code == kNanCode) return nanf("");
  return static_cast<float>(code - kZeroCode) * (1.0f / kSteps);
}

template <class T>
__global__ void __launch_bounds__(kThreads) byte_forward_kernel(const T* x, T* y, uint8_t* kept,  // (n) each
                                                                int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    days::Vec<T, kCount> v = load<kCount>(x + first);
    uint8_t codes[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]), p = fmaf(0.5f, erff(kHalfRoot * value), 0.5f);
      codes[i] = encode(fmaf(value, kDensity * expf(-0.5f * value * value), p));
      v[i] = days::from_float<T>(value * p);
    }
    store<kCount>(y + first, v);
    Codes<kCount> word;
    memcpy(static_cast<void*>(&word), codes, kCount);
    *reinterpret_cast<Codes<kCount>*>(kept + first) = word;
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    byte_backward_kernel(const uint8_t* kept, const T* dy, T* dx,  // (n) each
                         int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    const Codes<kCount> word = *reinterpret_cast<const Codes<kCount>*>(kept + first);
    days::Vec<T, kCount> d = load<kCount>(dy + first);
    uint8_t codes[kCount];
    memcpy(codes, &word, kCount);
#pragma unroll
    for (int i = 0; i < kCount; ++i) d[i] = days::from_float<T>(days::to_float(d[i]) * decode(codes[i]));
    store<kCount>(dx + first, d);
  });
}

}  // namespace

template <class T>
void gelu_step_byte(const GeluStep<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "byte", gelu_step_byte_workspace(p));
  uint8_t* kept = static_cast<uint8_t*>(p.workspace.data);
  byte_forward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, kept, p.n);
  CUDA_CHECK_LAUNCH();
  byte_backward_kernel<<<blocks, kThreads, 0, stream>>>(kept, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_step_byte, GeluStep, float, days::half, days::bf16);

}  // namespace day15
