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
#include "common/ptx/wgmma.h"
#include "common/random.h"
#include "common/types.h"

namespace days::detail {

// Memory is kept busy by bytes in flight: each thread issues kUnroll 16-byte loads before it uses the first,
// and a block's loads cover one contiguous piece. `n` counts float4s and is a multiple of a block's piece. Of the
// 1:3 mix `out` has three arrays.
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
      if (kMix == Mix::kCopy || kMix == Mix::kOneToThree) value = x[i];
      if (kHasY) value = make_float4(x[i].x + y[i].x, x[i].y + y[i].y, x[i].z + y[i].z, x[i].w + y[i].w);
      if (kMix == Mix::kThreeToOne)
        value = make_float4(value.x + z[i].x, value.y + z[i].y, value.z + z[i].z, value.w + z[i].w);
      const size_t at = first + i * size_t{blockDim.x};
      out[at] = value;
      if (kMix == Mix::kOneToThree) out[n + at] = out[2 * n + at] = value;
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

// What a register of a rate's inputs holds: random numbers between 1 and 2 in size, of either sign; of int8
// any. Zeros would draw less power than data does.
DAYS_HOST_DEVICE constexpr uint32_t signs_and_fractions(Rate rate) {
  return rate == Rate::mma_fp16 || rate == Rate::wgmma_fp16   ? 0x83ff83ffu
         : rate == Rate::mma_bf16 || rate == Rate::wgmma_bf16 ? 0x807f807fu
         : rate == Rate::mma_tf32 || rate == Rate::wgmma_tf32 ? 0x807fe000u
         : rate == Rate::mma_fp8 || rate == Rate::wgmma_fp8   ? 0x87878787u
                                                              : 0xffffffffu;
}
DAYS_HOST_DEVICE constexpr uint32_t exponents_of_1(Rate rate) {
  return rate == Rate::mma_fp16 || rate == Rate::wgmma_fp16   ? 0x3c003c00u
         : rate == Rate::mma_bf16 || rate == Rate::wgmma_bf16 ? 0x3f803f80u
         : rate == Rate::mma_tf32 || rate == Rate::wgmma_tf32 ? 0x3f800000u
         : rate == Rate::mma_fp8 || rate == Rate::wgmma_fp8   ? 0x38383838u
                                                              : 0u;
}
template <Rate kRate>
__device__ inline uint32_t random_register(uint64_t index) {
  return (static_cast<uint32_t>(random_bits(1, index)) & signs_and_fractions(kRate)) | exponents_of_1(kRate);
}

// How many numbers along k one step of a rate's kernel takes: those in 32 bytes.
constexpr int depth_of(Rate rate) {
  return rate == Rate::mma_tf32 || rate == Rate::wgmma_tf32   ? 8
         : rate == Rate::mma_int8 || rate == Rate::wgmma_int8 ? 32
         : rate == Rate::mma_fp8 || rate == Rate::wgmma_fp8   ? 32
                                                              : 16;
}

// What its products are added up in.
template <Rate kRate>
using Sum = std::conditional_t<kRate == Rate::mma_int8 || kRate == Rate::wgmma_int8, int32_t, float>;

// One product of 16 x 8 by mma.sync, depth_of(kRate) deep; before 8.0 in parts.
template <Rate kRate>
__device__ inline void mma_step(Sum<kRate> (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  if constexpr (kRate == Rate::mma_fp16) {
    ptx::mma_m16n8k8_f32_f16_f16_f32(c, {a[0], a[1]}, {b[0]}, c);
    ptx::mma_m16n8k8_f32_f16_f16_f32(c, {a[2], a[3]}, {b[1]}, c);
  } else if constexpr (kRate == Rate::mma_int8) {
    int32_t upper[2] = {c[0], c[1]}, lower[2] = {c[2], c[3]};
    ptx::mma_m8n8k16_s32_s8_s8_s32(upper, {a[0]}, {b[0]}, upper);
    ptx::mma_m8n8k16_s32_s8_s8_s32(lower, {a[1]}, {b[0]}, lower);
    ptx::mma_m8n8k16_s32_s8_s8_s32(upper, {a[2]}, {b[1]}, upper);
    ptx::mma_m8n8k16_s32_s8_s8_s32(lower, {a[3]}, {b[1]}, lower);
    c[0] = upper[0], c[1] = upper[1], c[2] = lower[0], c[3] = lower[1];
  }
#else
  if constexpr (kRate == Rate::mma_fp16) {
    ptx::mma_m16n8k16_f32_f16_f16_f32(c, a, b, c);
  } else if constexpr (kRate == Rate::mma_bf16) {
    ptx::mma_m16n8k16_f32_bf16_bf16_f32(c, a, b, c);
  } else if constexpr (kRate == Rate::mma_tf32) {
    ptx::mma_m16n8k8_f32_tf32_tf32_f32(c, a, b, c);
  } else if constexpr (kRate == Rate::mma_int8) {
    ptx::mma_m16n8k32_s32_s8_s8_s32(c, a, b, c);
  } else {
    ptx::mma_m16n8k32_f32_e4m3_e4m3_f32(c, a, b, c);
  }
#endif
}

template <Rate kRate>
__global__ void mma_kernel(float* out, float shown) {
  uint32_t a[4], b[2];
  Sum<kRate> c[kMmaChains][4] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = random_register<kRate>(threadIdx.x * 8u + i);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = random_register<kRate>(threadIdx.x * 8u + 4u + i);
#pragma unroll 1
  for (int step = 0; step < kMmaSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kMmaChains; ++i) mma_step<kRate>(c[i], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMmaChains; ++i)
    sum += static_cast<float>(c[i][0]) + static_cast<float>(c[i][1]) + static_cast<float>(c[i][2]) +
           static_cast<float>(c[i][3]);
  if (sum == shown) out[threadIdx.x] = sum;  // as above
}

// One product of 64 x 256 by a warpgroup, depth_of(kRate) deep.
template <Rate kRate>
__device__ inline void wgmma_step(Sum<kRate> (&c)[128], uint64_t a, uint64_t b) {
  if constexpr (kRate == Rate::wgmma_fp16) {
    ptx::wgmma<__half>(c, a, b);
  } else if constexpr (kRate == Rate::wgmma_bf16) {
    ptx::wgmma<__nv_bfloat16>(c, a, b);
  } else if constexpr (kRate == Rate::wgmma_tf32) {
    ptx::wgmma<ptx::Tf32>(c, a, b);
  } else if constexpr (kRate == Rate::wgmma_int8) {
    ptx::wgmma<int8_t>(c, a, b);
  } else {
    ptx::wgmma<__nv_fp8_e4m3>(c, a, b);
  }
}

inline constexpr int kWgmmaSteps = 512, kWgmmaRepeats = 4, kWgmmaSlices = 4, kWgmmaGroups = 2;

// Two warpgroups, each with a tile of a of its own, of 64 rows of 128 bytes, and one of b for both, of 256
// such rows.
struct WgmmaTiles {
  alignas(1024) uint32_t a[kWgmmaGroups][64 * 32];
  alignas(1024) uint32_t b[256 * 32];
};

// kWgmmaRepeats times through the tiles' slices of 32 bytes a step.
template <Rate kRate>
__global__ void __launch_bounds__(kWgmmaGroups * 128, 1) wgmma_kernel(float* out, float shown) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__SIMT__)
  __shared__ WgmmaTiles tiles;
  const int group = static_cast<int>(threadIdx.x) / 128;
  uint32_t* const words = reinterpret_cast<uint32_t*>(&tiles);
  for (unsigned i = threadIdx.x; i < sizeof tiles / 4; i += blockDim.x) words[i] = random_register<kRate>(i);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  const uint64_t a = ptx::wgmma_descriptor(tiles.a[group]), b = ptx::wgmma_descriptor(tiles.b);
  Sum<kRate> c[128] = {};
#pragma unroll 1
  for (int step = 0; step < kWgmmaSteps; ++step) {
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kWgmmaRepeats * kWgmmaSlices; ++i) {
      const uint64_t slice = static_cast<uint64_t>(i % kWgmmaSlices) * (32 >> 4);
      wgmma_step<kRate>(c, a + slice, b + slice);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += static_cast<float>(c[i]);
  if (sum == shown) out[threadIdx.x] = sum;  // as above
#else
  static_cast<void>(out), static_cast<void>(shown);
#endif
}

// Whether the kernels above hold wgmma.
template <class T>
__global__ void has_wgmma_kernel(T* out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__SIMT__)
  *out = 1;
#else
  *out = 0;
#endif
}

}  // namespace days::detail
