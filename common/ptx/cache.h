// SPDX-License-Identifier: MIT
//
// Loads and stores that say how long their data is worth keeping in the caches. Included by common/ptx.h.
#pragma once

#include <cuda_runtime.h>

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

// prefetch.global.L2: brings the line of that address into L2, and waits for nothing. Section "prefetch, prefetchu".
__device__ inline void prefetch_global_l2(const void* address) {
#ifdef __SIMT__
  static_cast<void>(address);
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace days::ptx
