// SPDX-License-Identifier: MIT
//
// PTX instructions, one a function, under PTX's own names, each with a twin that does the same on the CPU
// backend. No other file of the course holds inline assembly. Sections are those of the PTX ISA reference
// (docs.nvidia.com/cuda/parallel-thread-execution).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace days::ptx {

// ld.global.cs.v4.u32: "cache streaming", likely to be accessed once. Section "Cache Operators".
__device__ inline uint4 ld_global_cs(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 v;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
#endif
}

// st.global.cs.v4.u32: "cache streaming". Section "Cache Operators".
__device__ inline void st_global_cs(uint4* to, uint4 v) {
#ifdef __SIMT__
  *to = v;
#else
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
#endif
}

// ld.global.nc.v4.u32: the read-only path; undefined if anything writes *from during the kernel. Section
// "ld.global.nc".
__device__ inline uint4 ld_global_nc(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 v;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
#endif
}

}  // namespace days::ptx
