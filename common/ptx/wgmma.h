// SPDX-License-Identifier: MIT
//
// Matrix products of a warpgroup, for compute capability 9.0 alone (code for 90a). Four warps, 128 threads, take part; a
// and b are read from shared memory, by descriptor, and d is added up in the registers of the group. Not included by
// common/ptx.h, as few files want it. The CPU backend has no twin of these: there, as on every other architecture, they do
// nothing, and rate_limit() has no limit.
#pragma once

#include "common/ptx/address.h"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__SIMT__)
#define DAYS_PTX_WGMMA 1
#endif

namespace days::ptx {

// Where a matrix of a warpgroup's product lies in shared memory: k-major, in rows of 128 bytes, 8 of which are a block of
// 1024 bytes, swizzled over 128 bytes (as a bulk tensor copy with that swizzle leaves them); `tile` at a multiple of 1024
// bytes. The next 32 bytes along k begin 32 bytes further: descriptor + 2. Section "Matrix Descriptor Format".
__device__ __forceinline__ uint64_t wgmma_descriptor(const void* tile) {
#ifdef __SIMT__
  static_cast<void>(tile);
  return 0;
#else
  const uint64_t address = (detail::shared_address(tile) & 0x3ffff) >> 4;
  constexpr uint64_t kLeading = 1, kStride = 1024 >> 4, kSwizzle128 = 1;
  return address | kLeading << 16 | kStride << 32 | kSwizzle128 << 62;
#endif
}

// wgmma.fence.sync.aligned: before the first product, and wherever registers of d were touched since the last one.
// Section "wgmma.fence".
__device__ __forceinline__ void wgmma_fence() {
#ifdef DAYS_PTX_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// wgmma.commit_group.sync.aligned: the products since the last one are a group. Section "wgmma.commit_group".
__device__ __forceinline__ void wgmma_commit_group() {
#ifdef DAYS_PTX_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// wgmma.wait_group.sync.aligned: until at most kPending groups are unfinished. Section "wgmma.wait_group".
template <int kPending>
__device__ __forceinline__ void wgmma_wait_group() {
#ifdef DAYS_PTX_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

// wgmma.mma_async.sync.aligned.m64n256k...: d += a * b, of which each call takes 32 bytes along k: 16 of half and bfloat16,
// 8 of tf32, 32 of fp8 and of s8. d: element (row, column) of the 64 x 256 is that of lane 4 * (row % 8) + column % 8 / 2
// of warp row / 16, register column / 8 * 4 + row % 16 / 8 * 2 + column % 2. Section "wgmma.mma_async".
#ifdef DAYS_PTX_WGMMA
#define DAYS_PTX_EACH_8(letter, i)                                                                          \
  "+" letter(d[i]), "+" letter(d[i + 1]), "+" letter(d[i + 2]), "+" letter(d[i + 3]), "+" letter(d[i + 4]), \
      "+" letter(d[i + 5]), "+" letter(d[i + 6]), "+" letter(d[i + 7])
#define DAYS_PTX_EACH_32(letter, i)                                                            \
  DAYS_PTX_EACH_8(letter, i), DAYS_PTX_EACH_8(letter, i + 8), DAYS_PTX_EACH_8(letter, i + 16), \
      DAYS_PTX_EACH_8(letter, i + 24)
#define DAYS_PTX_WGMMA_M64N256(instruction, letter, scales)                                               \
  asm volatile(                                                                                           \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n" instruction                                           \
      " {"                                                                                                \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                            \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                  \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                  \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                  \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "      \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, " \
      "%128, %129, p" scales ";\n}"                                                                       \
      : DAYS_PTX_EACH_32(letter, 0), DAYS_PTX_EACH_32(letter, 32), DAYS_PTX_EACH_32(letter, 64),          \
        DAYS_PTX_EACH_32(letter, 96)                                                                      \
      : "l"(a), "l"(b), "r"(1)                                                                            \
      : "memory")
#else
#define DAYS_PTX_WGMMA_M64N256(instruction, letter, scales) \
  static_cast<void>(d), static_cast<void>(a), static_cast<void>(b)
#endif
__device__ __forceinline__ void wgmma_m64n256k16_f32_f16_f16(float (&d)[128], uint64_t a, uint64_t b) {
  DAYS_PTX_WGMMA_M64N256("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "f", ", 1, 1, 0, 0");
}
__device__ __forceinline__ void wgmma_m64n256k16_f32_bf16_bf16(float (&d)[128], uint64_t a, uint64_t b) {
  DAYS_PTX_WGMMA_M64N256("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", "f", ", 1, 1, 0, 0");
}
__device__ __forceinline__ void wgmma_m64n256k8_f32_tf32_tf32(float (&d)[128], uint64_t a, uint64_t b) {
  DAYS_PTX_WGMMA_M64N256("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", "f", ", 1, 1");
}
__device__ __forceinline__ void wgmma_m64n256k32_f32_e4m3_e4m3(float (&d)[128], uint64_t a, uint64_t b) {
  DAYS_PTX_WGMMA_M64N256("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3", "f", ", 1, 1");
}
__device__ __forceinline__ void wgmma_m64n256k32_s32_s8_s8(int32_t (&d)[128], uint64_t a, uint64_t b) {
  DAYS_PTX_WGMMA_M64N256("wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8", "r", "");
}

#undef DAYS_PTX_WGMMA_M64N256
#undef DAYS_PTX_EACH_32
#undef DAYS_PTX_EACH_8
#undef DAYS_PTX_WGMMA

}  // namespace days::ptx
