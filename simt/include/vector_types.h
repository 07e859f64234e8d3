// SPDX-License-Identifier: MIT
//
// CUDA's vector types: char1 ... double4, dim3. On a GPU a float4 is loaded and stored by one 16-byte
// instruction, and the access tracer relies on that. A plain struct would be split into members by the
// optimiser, so every type of 2, 4, 8 or 16 bytes is a union with one integer or SIMD vector of its own size,
// `simt_whole`.
//
// - g++: a volatile member in the union is enough. The type stays a trivially copyable aggregate, and the
//   optimiser no longer takes its copies apart.
// - clang: only a copy through simt_whole stays whole. Checked builds, which trace, have user-provided copy
//   functions for that; there the types are not trivially copyable (std::bit_cast refuses them, a union that
//   holds one cannot be copied). Other builds leave the copies to the compiler.
//
// Always x, y, z, w are ordinary lvalues, and make_float4() and the copies work in constant expressions.
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#ifdef __clang__
#if __has_feature(thread_sanitizer)
#define SIMT_COPY_WHOLE
#include <initializer_list>
#endif
#endif

typedef unsigned short simt_whole2 __attribute__((may_alias));
typedef unsigned int simt_whole4 __attribute__((may_alias));
typedef unsigned long long simt_whole8 __attribute__((may_alias));
typedef unsigned long long simt_whole16 __attribute__((vector_size(16), may_alias));
// A GPU (before sm_100) moves 32 bytes with two instructions.
typedef simt_whole16 simt_whole32[2];

#if defined(SIMT_TRACED) && !defined(__clang__)
// g++ builds what a function returns, make_float4() for one, member by member where it is assigned to;
// through this it is one store.
template <class Whole>
inline void simt_store_whole(volatile Whole& to, const volatile Whole& from) {
  to = from;
}
inline void simt_store_whole(volatile simt_whole32& to, const volatile simt_whole32& from) {
  to[0] = from[0];
  to[1] = from[1];
}
#endif
#ifdef SIMT_COPY_WHOLE
// A new object is mostly a local: its load is the one that must stay whole. An assignment mostly goes to
// memory: there it is the store. Volatile, because clang splits even such an access where only the elements
// are used.
template <class Whole>
inline void simt_load_whole(Whole& to, const volatile Whole& from) {
  to = from;
}
inline void simt_load_whole(simt_whole32& to, const volatile simt_whole32& from) {
  to[0] = from[0];
  to[1] = from[1];
}
template <class Whole>
inline void simt_store_whole(volatile Whole& to, const Whole& from) {
  to = from;
}
inline void simt_store_whole(volatile simt_whole32& to, const simt_whole32& from) {
  to[0] = from[0];
  to[1] = from[1];
}
#define SIMT_WHOLE(whole) whole simt_whole
#define SIMT_COPIES_2(name, T)                                                             \
  name() = default;                                                                        \
  constexpr name(T x_, T y_) : x(x_), y(y_) {}                                             \
  constexpr name(std::initializer_list<T> list)                                            \
      : x(list.size() > 0 ? list.begin()[0] : static_cast<T>(0)),                          \
        y(list.size() > 1 ? list.begin()[1] : static_cast<T>(0)) {}                        \
  constexpr name(const name& other) : x(other.x), y(other.y) {                             \
    if (!__builtin_is_constant_evaluated()) simt_load_whole(simt_whole, other.simt_whole); \
  }                                                                                        \
  constexpr name& operator=(const name& other) {                                           \
    if (__builtin_is_constant_evaluated()) {                                               \
      x = other.x, y = other.y;                                                            \
    } else {                                                                               \
      simt_store_whole(simt_whole, other.simt_whole);                                      \
    }                                                                                      \
    return *this;                                                                          \
  }
#define SIMT_COPIES_4(name, T)                                                             \
  name() = default;                                                                        \
  constexpr name(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}                   \
  constexpr name(std::initializer_list<T> list)                                            \
      : x(list.size() > 0 ? list.begin()[0] : static_cast<T>(0)),                          \
        y(list.size() > 1 ? list.begin()[1] : static_cast<T>(0)),                          \
        z(list.size() > 2 ? list.begin()[2] : static_cast<T>(0)),                          \
        w(list.size() > 3 ? list.begin()[3] : static_cast<T>(0)) {}                        \
  constexpr name(const name& other) : x(other.x), y(other.y), z(other.z), w(other.w) {     \
    if (!__builtin_is_constant_evaluated()) simt_load_whole(simt_whole, other.simt_whole); \
  }                                                                                        \
  constexpr name& operator=(const name& other) {                                           \
    if (__builtin_is_constant_evaluated()) {                                               \
      x = other.x, y = other.y, z = other.z, w = other.w;                                  \
    } else {                                                                               \
      simt_store_whole(simt_whole, other.simt_whole);                                      \
    }                                                                                      \
    return *this;                                                                          \
  }
#else
#ifdef __clang__
#define SIMT_WHOLE(whole) whole simt_whole
#else
#define SIMT_WHOLE(whole) volatile whole simt_whole
#endif
#if defined(SIMT_TRACED) && !defined(__clang__)
#define SIMT_COPIES_2(name, T)                        \
  constexpr name& operator=(const name& other) {      \
    if (__builtin_is_constant_evaluated()) {          \
      x = other.x, y = other.y;                       \
    } else {                                          \
      simt_store_whole(simt_whole, other.simt_whole); \
    }                                                 \
    return *this;                                     \
  }
#define SIMT_COPIES_4(name, T)                            \
  constexpr name& operator=(const name& other) {          \
    if (__builtin_is_constant_evaluated()) {              \
      x = other.x, y = other.y, z = other.z, w = other.w; \
    } else {                                              \
      simt_store_whole(simt_whole, other.simt_whole);     \
    }                                                     \
    return *this;                                         \
  }
#else
#define SIMT_COPIES_2(name, T)
#define SIMT_COPIES_4(name, T)
#endif
#endif

#define SIMT_VECTOR_1(name, T) \
  struct name {                \
    T x;                       \
  };
#define SIMT_VECTOR_2(name, T, whole, alignment) \
  struct alignas(alignment) name {               \
    union {                                      \
      __extension__ struct { T x, y; };          \
      SIMT_WHOLE(whole);                         \
    };                                           \
    SIMT_COPIES_2(name, T)                       \
  };
#define SIMT_VECTOR_3(name, T) \
  struct name {                \
    T x, y, z;                 \
  };
#define SIMT_VECTOR_4(name, T, whole, alignment) \
  struct alignas(alignment) name {               \
    union {                                      \
      __extension__ struct { T x, y, z, w; };    \
      SIMT_WHOLE(whole);                         \
    };                                           \
    SIMT_COPIES_4(name, T)                       \
  };

SIMT_VECTOR_1(char1, signed char)
SIMT_VECTOR_2(char2, signed char, simt_whole2, 2)
SIMT_VECTOR_3(char3, signed char)
SIMT_VECTOR_4(char4, signed char, simt_whole4, 4)
SIMT_VECTOR_1(uchar1, unsigned char)
SIMT_VECTOR_2(uchar2, unsigned char, simt_whole2, 2)
SIMT_VECTOR_3(uchar3, unsigned char)
SIMT_VECTOR_4(uchar4, unsigned char, simt_whole4, 4)
SIMT_VECTOR_1(short1, short)
SIMT_VECTOR_2(short2, short, simt_whole4, 4)
SIMT_VECTOR_3(short3, short)
SIMT_VECTOR_4(short4, short, simt_whole8, 8)
SIMT_VECTOR_1(ushort1, unsigned short)
SIMT_VECTOR_2(ushort2, unsigned short, simt_whole4, 4)
SIMT_VECTOR_3(ushort3, unsigned short)
SIMT_VECTOR_4(ushort4, unsigned short, simt_whole8, 8)
SIMT_VECTOR_1(int1, int)
SIMT_VECTOR_2(int2, int, simt_whole8, 8)
SIMT_VECTOR_3(int3, int)
SIMT_VECTOR_4(int4, int, simt_whole16, 16)
SIMT_VECTOR_1(uint1, unsigned int)
SIMT_VECTOR_2(uint2, unsigned int, simt_whole8, 8)
SIMT_VECTOR_3(uint3, unsigned int)
SIMT_VECTOR_4(uint4, unsigned int, simt_whole16, 16)
SIMT_VECTOR_1(long1, long)
SIMT_VECTOR_2(long2, long, simt_whole16, 16)
SIMT_VECTOR_3(long3, long)
SIMT_VECTOR_1(ulong1, unsigned long)
SIMT_VECTOR_2(ulong2, unsigned long, simt_whole16, 16)
SIMT_VECTOR_3(ulong3, unsigned long)
SIMT_VECTOR_1(longlong1, long long)
SIMT_VECTOR_2(longlong2, long long, simt_whole16, 16)
SIMT_VECTOR_3(longlong3, long long)
SIMT_VECTOR_1(ulonglong1, unsigned long long)
SIMT_VECTOR_2(ulonglong2, unsigned long long, simt_whole16, 16)
SIMT_VECTOR_3(ulonglong3, unsigned long long)
SIMT_VECTOR_1(float1, float)
SIMT_VECTOR_2(float2, float, simt_whole8, 8)
SIMT_VECTOR_3(float3, float)
SIMT_VECTOR_4(float4, float, simt_whole16, 16)
SIMT_VECTOR_1(double1, double)
SIMT_VECTOR_2(double2, double, simt_whole16, 16)
SIMT_VECTOR_3(double3, double)

// The 32-byte types come in three names since CUDA 13: the old one and _16a are aligned to 16 bytes, _32a
// to 32.
#define SIMT_VECTOR_4_WIDE(name, T)              \
  SIMT_VECTOR_4(name, T, simt_whole32, 16)       \
  SIMT_VECTOR_4(name##_16a, T, simt_whole32, 16) \
  SIMT_VECTOR_4(name##_32a, T, simt_whole32, 32)
SIMT_VECTOR_4_WIDE(long4, long)
SIMT_VECTOR_4_WIDE(ulong4, unsigned long)
SIMT_VECTOR_4_WIDE(longlong4, long long)
SIMT_VECTOR_4_WIDE(ulonglong4, unsigned long long)
SIMT_VECTOR_4_WIDE(double4, double)

#undef SIMT_VECTOR_4_WIDE
#undef SIMT_VECTOR_4
#undef SIMT_VECTOR_3
#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_1
#undef SIMT_COPIES_4
#undef SIMT_COPIES_2
#undef SIMT_WHOLE
#undef SIMT_COPY_WHOLE

// Extents of grids and blocks; what is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
