// SPDX-License-Identifier: MIT
//
// Loads, stores and additions that other blocks take part in. A relaxed one says about itself alone; a release is seen after all that its
// thread has written or seen before it, by whoever acquires it. Included by common/ptx.h. The CPU backend makes no read stale,
// so a kernel with the wrong one gives right results there; its checked builds know the difference and report a race.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace days::ptx {

// ld.acquire.gpu.global: what this thread reads from here on is not older than the value. Section "ld".
__device__ __forceinline__ uint32_t ld_acquire_gpu(const uint32_t* from) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ unsigned long long ld_acquire_gpu(const unsigned long long* from) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// st.release.gpu.global: who acquires the value sees what this thread has written before. Section "st".
__device__ __forceinline__ void st_release_gpu(uint32_t* to, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ __forceinline__ void st_release_gpu(unsigned long long* to, unsigned long long value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// ld.relaxed.gpu.global: the value as L2 has it, whole; nothing is said of other addresses. Section "ld".
__device__ __forceinline__ uint32_t ld_relaxed_gpu(const uint32_t* from) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ unsigned long long ld_relaxed_gpu(const unsigned long long* from) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// st.relaxed.gpu.global: seen whole, in no order with this thread's other stores. Section "st".
__device__ __forceinline__ void st_relaxed_gpu(uint32_t* to, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ __forceinline__ void st_relaxed_gpu(unsigned long long* to, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// red.relaxed.gpu.global.add.v4.f32: adds v to to[0 ... 3], which are aligned to 16 bytes, in one request. Each of the four is
// atomic, the whole is not. Needs compute capability 9.0. Section "red".
__device__ __forceinline__ void red_add_v4(float* to, float4 v) {
#if defined(__SIMT__) || __CUDA_ARCH__ >= 900
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
#endif
}

}  // namespace days::ptx
