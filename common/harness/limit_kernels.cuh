// SPDX-License-Identifier: MIT
//
// Part of harness.cu: kernels that do nothing but move bytes or multiply and add, as fast as the device can.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/limits.h"

namespace days::detail {

// Memory is kept busy by bytes in flight: each thread issues kUnroll 16-byte loads before it uses the first,
// and a block's loads cover one contiguous piece. `n` counts float4s and is a multiple of a block's piece.
template <Mix kMix, int kUnroll>
__global__ void bandwidth_kernel(const float4* a, const float4* b, float4* out, size_t n) {
  const size_t first = size_t{blockIdx.x} * blockDim.x * kUnroll + threadIdx.x;
  float4 x[kUnroll], y[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const size_t at = first + i * size_t{blockDim.x};
    if (kMix != Mix::kWrite) x[i] = a[at];
    if (kMix == Mix::kTwoToOne) y[i] = b[at];
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
      if (kMix == Mix::kTwoToOne)
        value = make_float4(x[i].x + y[i].x, x[i].y + y[i].y, x[i].z + y[i].z, x[i].w + y[i].w);
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

}  // namespace days::detail
