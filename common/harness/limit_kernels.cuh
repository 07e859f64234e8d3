// SPDX-License-Identifier: MIT
//
// Part of harness.cu: kernels that do nothing but move bytes or multiply and add, as fast as the device can.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/limits.h"
#include "common/ptx.h"
#include "common/random.h"
#include "common/types.h"

namespace days::detail {

// Memory is kept busy by bytes in flight: each thread issues kUnroll 16-byte loads before it uses the first,
// and a block's loads cover one contiguous piece. `n` counts float4s and is a multiple of a block's piece.
template <Mix kMix, int kUnroll>
__global__ void bandwidth_kernel(const float4* a, const float4* b, const float4* c, float4* out, size_t n) {
  const size_t first = size_t{blockIdx.x} * blockDim.x * kUnroll + threadIdx.x;
  constexpr bool kHasY = kMix == Mix::kTwoToOne || kMix == Mix::kThreeToOne;
  float4 x[kUnroll], y[kUnroll], z[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const size_t at = first + i * size_t{blockDim.x};
    if (kMix != Mix::kWrite) x[i] = a[at];
    if (kHasY) y[i] = b[at];
    if (kMix == Mix::kThreeToOne) z[i] = c[at];
  }
  if constexpr (kMix == Mix::kRead) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) sum += x[i].x + x[i].y + x[i].z + x[i].w;
    // The buffer holds zeros, so this never happens; but the compiler cannot know, and must load.
    if (sum != 0) out[first % n] = make_float4(sum, sum, sum, sum);
  } else {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      float4 value = make_float4(0, 0, 0, 0);
      if (kMix == Mix::kCopy) value = x[i];
      if (kHasY) value = make_float4(x[i].x + y[i].x, x[i].y + y[i].y, x[i].z + y[i].z, x[i].w + y[i].w);
      if (kMix == Mix::kThreeToOne)
        value = make_float4(value.x + z[i].x, value.y + z[i].y, value.z + z[i].z, value.w + z[i].w);
      out[first + i * size_t{blockDim.x}] = value;
    }
  }
}

inline constexpr int kFmaSteps = 16384;

// kChains independent chains of fused multiply-adds a thread: enough that the next one never waits for the
// one before.
template <int kChains>
__global__ void ffma_kernel(float* out, float a, float b, float shown) {
  float x[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) x[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 1
  for (int step = 0; step < kFmaSteps / 64; ++step) {
#pragma unroll
    for (int repeat = 0; repeat < 64; ++repeat) {
#pragma unroll
      for (int i = 0; i < kChains; ++i) x[i] = fmaf(x[i], a, b);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) sum += x[i];
  if (sum == shown) out[threadIdx.x] = sum;  // never where time is measured; but the compiler must compute it
}

inline constexpr int kMmaSteps = 4096, kMmaChains = 8;

// Two random halves between 1 and 2 in size, of either sign. Zeros would draw less power than data does.
template <class T>
__device__ inline uint32_t random_halves(uint64_t index) {
  const uint32_t bits = static_cast<uint32_t>(random_bits(1, index));
  return std::is_same_v<T, half> ? (bits & 0x83ff83ffu) | 0x3c003c00u : (bits & 0x807f807fu) | 0x3f803f80u;
}

// The same with mma.sync, 16 x 8 x 16 a step and chain; before 8.0, for half, twice 16 x 8 x 8.
template <class T>
__global__ void mma_kernel(float* out, float shown) {
  uint32_t a[4], b[2];
  float c[kMmaChains][4] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = random_halves<T>(threadIdx.x * 8u + i);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = random_halves<T>(threadIdx.x * 8u + 4u + i);
#pragma unroll 1
  for (int step = 0; step < kMmaSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kMmaChains; ++i) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
      ptx::mma_m16n8k8_f32_f16_f16_f32(c[i], {a[0], a[1]}, {b[0]}, c[i]);
      ptx::mma_m16n8k8_f32_f16_f16_f32(c[i], {a[2], a[3]}, {b[1]}, c[i]);
#else
      if constexpr (std::is_same_v<T, half>) {
        ptx::mma_m16n8k16_f32_f16_f16_f32(c[i], a, b, c[i]);
      } else {
        ptx::mma_m16n8k16_f32_bf16_bf16_f32(c[i], a, b, c[i]);
      }
#endif
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMmaChains; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == shown) out[threadIdx.x] = sum;  // as above
}

}  // namespace days::detail
