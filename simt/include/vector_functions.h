// SPDX-License-Identifier: MIT
//
// make_float4() and its family.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define SIMT_MAKE_123(name, T)                             \
  inline constexpr name##1 make_##name##1(T x) {           \
    return name##1 {x};                                    \
  }                                                        \
  inline constexpr name##2 make_##name##2(T x, T y) {      \
    return name##2 {x, y};                                 \
  }                                                        \
  inline constexpr name##3 make_##name##3(T x, T y, T z) { \
    return name##3 {x, y, z};                              \
  }
#define SIMT_MAKE_4(name, T)                              \
  inline constexpr name make_##name(T x, T y, T z, T w) { \
    return name{x, y, z, w};                              \
  }
#define SIMT_MAKE(name, T) SIMT_MAKE_123(name, T) SIMT_MAKE_4(name##4, T)
#define SIMT_MAKE_WIDE(name, T) SIMT_MAKE(name, T) SIMT_MAKE_4(name##4_16a, T) SIMT_MAKE_4(name##4_32a, T)

SIMT_MAKE(char, signed char)
SIMT_MAKE(uchar, unsigned char)
SIMT_MAKE(short, short)
SIMT_MAKE(ushort, unsigned short)
SIMT_MAKE(int, int)
SIMT_MAKE(uint, unsigned int)
SIMT_MAKE(float, float)
SIMT_MAKE_WIDE(long, long)
SIMT_MAKE_WIDE(ulong, unsigned long)
SIMT_MAKE_WIDE(longlong, long long)
SIMT_MAKE_WIDE(ulonglong, unsigned long long)
SIMT_MAKE_WIDE(double, double)

#undef SIMT_MAKE_WIDE
#undef SIMT_MAKE
#undef SIMT_MAKE_4
#undef SIMT_MAKE_123

#endif
