// SPDX-License-Identifier: MIT
//
// Logic that C++ has no word for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace days::ptx {

// What lop3 looks up, made of these as the bits themselves would be: (kA & kB) | kC.
inline constexpr unsigned kA = 0xf0, kB = 0xcc, kC = 0xaa;

// lop3.b32: any function of three bits, for each of 32, in one instruction. Of an expression with two constants nvcc makes two. Section
// "lop3".
template <unsigned kTable>
__device__ __forceinline__ uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) {
  static_assert(kTable < 256);
#ifdef __SIMT__
  uint32_t d = 0;
  for (unsigned i = 0; i < 8; ++i)
    if ((kTable >> i & 1) != 0)
      d |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  return d;
#else
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return d;
#endif
}

}  // namespace days::ptx
