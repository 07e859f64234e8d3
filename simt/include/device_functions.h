// SPDX-License-Identifier: MIT
//
// Device intrinsics that need no runtime: bits, integer arithmetic, conversions with a rounding mode,
// directed rounding, fast mathematics, several numbers in one word. What each does is in the CUDA Math API
// reference under the same name.
#ifndef __DEVICE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__

#include <fenv.h>
#include <string.h>

#include "math_functions.h"
#include "vector_functions.h"

// ---- bit patterns ----

namespace simt {
template <class To, class From>
inline To bits_as(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From), "bits_as() keeps the size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
}  // namespace simt

inline int __float_as_int(float x) noexcept {
  return simt::bits_as<int>(x);
}
inline unsigned int __float_as_uint(float x) noexcept {
  return simt::bits_as<unsigned int>(x);
}
inline float __int_as_float(int x) noexcept {
  return simt::bits_as<float>(x);
}
inline float __uint_as_float(unsigned int x) noexcept {
  return simt::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) noexcept {
  return simt::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) noexcept {
  return simt::bits_as<double>(x);
}
inline int __double2hiint(double x) noexcept {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) noexcept {
  return static_cast<int>(__double_as_longlong(x));
}
inline double __hiloint2double(int high, int low) noexcept {
  return __longlong_as_double(
      static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned int>(high)) << 32 |
                             static_cast<unsigned int>(low)));
}

inline int __popc(unsigned int x) noexcept {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) noexcept {
  return __builtin_popcountll(x);
}
inline int __clz(int x) noexcept {
  return x ? __builtin_clz(static_cast<unsigned int>(x)) : 32;
}
inline int __clzll(long long x) noexcept {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) noexcept {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) noexcept {
  return __builtin_ffsll(x);
}
inline unsigned int __brev(unsigned int x) noexcept {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) noexcept {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
         __brev(static_cast<unsigned int>(x >> 32));
}
// Four bytes chosen from the eight of (y, x): three bits of the selector's lower four digits each.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) noexcept {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned int digit = selector >> (4 * i) & 7u;
    result |= (static_cast<unsigned int>(bytes >> (8 * digit)) & 255u) << (8 * i);
  }
  return result;
}
inline unsigned short __nv_bswap16(unsigned short x) noexcept {
  return __builtin_bswap16(x);
}
inline unsigned int __nv_bswap32(unsigned int x) noexcept {
  return __builtin_bswap32(x);
}
inline unsigned long long __nv_bswap64(unsigned long long x) noexcept {
  return __builtin_bswap64(x);
}
// (high, low) shifted as one 64-bit number; the plain forms take the shift modulo 32, the c forms clamp it
// to 32.
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  if (shift >= 32) return low;
  return shift ? high << shift | low >> (32 - shift) : high;
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  if (shift >= 32) return high;
  return shift ? high << (32 - shift) | low >> shift : low;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return __funnelshift_lc(low, high, shift & 31u);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return __funnelshift_rc(low, high, shift & 31u);
}
// Position of the n-th set bit of mask at or above (n > 0) or below (n < 0) base; n = 0 asks for the bit at
// base itself.
inline unsigned int __fns(unsigned int mask, unsigned int base, int n) noexcept {
  if (base > 31) return ~0u;
  if (n == 0) return mask >> base & 1u ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1u) && --left == 0) return static_cast<unsigned int>(i);
  }
  return ~0u;
}

// ---- integer arithmetic ----

inline int __mulhi(int a, int b) noexcept {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
inline unsigned int __umulhi(unsigned int a, unsigned int b) noexcept {
  return static_cast<unsigned int>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) noexcept {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) noexcept {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int mulhi(int a, int b) noexcept {
  return __mulhi(a, b);
}
inline unsigned int mulhi(unsigned int a, unsigned int b) noexcept {
  return __umulhi(a, b);
}
inline unsigned int umulhi(unsigned int a, unsigned int b) noexcept {
  return __umulhi(a, b);
}
inline long long mul64hi(long long a, long long b) noexcept {
  return __mul64hi(a, b);
}
inline unsigned long long mul64hi(unsigned long long a, unsigned long long b) noexcept {
  return __umul64hi(a, b);
}
inline unsigned long long umul64hi(unsigned long long a, unsigned long long b) noexcept {
  return __umul64hi(a, b);
}
inline unsigned int __umul24(unsigned int a, unsigned int b) noexcept {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
inline int __mul24(int a, int b) noexcept {
  const int a24 = static_cast<int>(static_cast<unsigned int>(a) << 8) >> 8;
  const int b24 = static_cast<int>(static_cast<unsigned int>(b) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned int>(a24) * static_cast<unsigned int>(b24));
}
inline int mul24(int a, int b) noexcept {
  return __mul24(a, b);
}
inline unsigned int umul24(unsigned int a, unsigned int b) noexcept {
  return __umul24(a, b);
}
inline unsigned int __sad(int a, int b, unsigned int c) noexcept {
  return (a > b ? static_cast<unsigned int>(a) - static_cast<unsigned int>(b)
                : static_cast<unsigned int>(b) - static_cast<unsigned int>(a)) +
         c;
}
inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) noexcept {
  return (a > b ? a - b : b - a) + c;
}
inline int __hadd(int a, int b) noexcept {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
inline int __rhadd(int a, int b) noexcept {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
inline unsigned int __uhadd(unsigned int a, unsigned int b) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned int __urhadd(unsigned int a, unsigned int b) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

namespace simt {
// Lane i of a word seen as lanes of type Lane.
template <class Lane, class Word>
inline Lane lane_of(Word word, int i) noexcept {
  return static_cast<Lane>(static_cast<unsigned long long>(word) >> (8 * sizeof(Lane) * i));
}
// Dot product of two words of lanes added to c; overflow wraps.
template <class A, class B, class C, class WordA, class WordB>
inline C dot(WordA a, WordB b, C c, int first_b = 0) noexcept {
  constexpr int kLanes = static_cast<int>(4 / sizeof(A));
  unsigned int sum = static_cast<unsigned int>(c);
  for (int i = 0; i < kLanes; ++i) {
    sum += static_cast<unsigned int>(static_cast<int>(lane_of<A>(a, i)) *
                                     static_cast<int>(lane_of<B>(b, first_b + i)));
  }
  return static_cast<C>(sum);
}
}  // namespace simt

inline int __dp4a(int a, int b, int c) noexcept {
  return simt::dot<signed char, signed char>(a, b, c);
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) noexcept {
  return simt::dot<unsigned char, unsigned char>(a, b, c);
}
inline int __dp4a(char4 a, char4 b, int c) noexcept {
  return __dp4a(simt::bits_as<int>(a), simt::bits_as<int>(b), c);
}
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) noexcept {
  return __dp4a(simt::bits_as<unsigned int>(a), simt::bits_as<unsigned int>(b), c);
}
inline int __dp2a_lo(int a, int b, int c) noexcept {
  return simt::dot<short, signed char>(a, b, c);
}
inline int __dp2a_hi(int a, int b, int c) noexcept {
  return simt::dot<short, signed char>(a, b, c, 2);
}
inline unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) noexcept {
  return simt::dot<unsigned short, unsigned char>(a, b, c);
}
inline unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) noexcept {
  return simt::dot<unsigned short, unsigned char>(a, b, c, 2);
}
inline int __dp2a_lo(short2 a, char4 b, int c) noexcept {
  return __dp2a_lo(simt::bits_as<int>(a), simt::bits_as<int>(b), c);
}
inline int __dp2a_hi(short2 a, char4 b, int c) noexcept {
  return __dp2a_hi(simt::bits_as<int>(a), simt::bits_as<int>(b), c);
}
inline unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) noexcept {
  return __dp2a_lo(simt::bits_as<unsigned int>(a), simt::bits_as<unsigned int>(b), c);
}
inline unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) noexcept {
  return __dp2a_hi(simt::bits_as<unsigned int>(a), simt::bits_as<unsigned int>(b), c);
}

// ---- directed rounding ----

namespace simt {
// Computes f under a rounding mode. The operands must be read and the result written inside, through
// volatile, so that neither is moved across the mode's change.
template <class F>
inline auto rounded(int mode, F f) noexcept -> decltype(f()) {
#if defined(__x86_64__)
  // Floats and doubles obey one register; fesetround() sets the x87's as well, which takes 20 times as long.
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr((before & ~0x6000u) | static_cast<unsigned>(mode) << 3);
  volatile decltype(f()) result = f();
  __builtin_ia32_ldmxcsr(before);
#else
  const int before = fegetround();
  fesetround(mode);
  volatile decltype(f()) result = f();
  fesetround(before);
#endif
  return result;
}
template <class To, class From>
inline To convert(int mode, From from) noexcept {
  volatile From operand = from;
  return rounded(mode, [&] { return static_cast<To>(operand); });
}
}  // namespace simt

// CUDA promises that the _rn forms are never fused into a multiply-add. Where the host has that instruction
// the compiler would fuse them, so the result goes through memory.
#if defined(__FMA__) || defined(__aarch64__)
#define SIMT_ROUNDED_ALONE(T, expression) \
  const volatile T result = expression;   \
  return result;
#else
#define SIMT_ROUNDED_ALONE(T, expression) return expression;
#endif

// name_rn, _rz, _rd, _ru of one operation; x, y, z are its operands.
#define SIMT_ROUNDED_1(T, name, expression)                                                           \
  inline T name##_rn(T x) noexcept {SIMT_ROUNDED_ALONE(T, expression)} SIMT_DIRECTED_1(               \
      T, name##_rz, FE_TOWARDZERO, expression) SIMT_DIRECTED_1(T, name##_rd, FE_DOWNWARD, expression) \
      SIMT_DIRECTED_1(T, name##_ru, FE_UPWARD, expression)
#define SIMT_DIRECTED_1(T, name, mode, expression)                 \
  inline T name(T x_) noexcept {                                   \
    volatile T x = x_;                                             \
    return simt::rounded(mode, [&]() -> T { return expression; }); \
  }
#define SIMT_ROUNDED_2(T, name, expression)                                                           \
  inline T name##_rn(T x, T y) noexcept {SIMT_ROUNDED_ALONE(T, expression)} SIMT_DIRECTED_2(          \
      T, name##_rz, FE_TOWARDZERO, expression) SIMT_DIRECTED_2(T, name##_rd, FE_DOWNWARD, expression) \
      SIMT_DIRECTED_2(T, name##_ru, FE_UPWARD, expression)
#define SIMT_DIRECTED_2(T, name, mode, expression)                 \
  inline T name(T x_, T y_) noexcept {                             \
    volatile T x = x_, y = y_;                                     \
    return simt::rounded(mode, [&]() -> T { return expression; }); \
  }
#define SIMT_ROUNDED_3(T, name, expression)                                                           \
  inline T name##_rn(T x, T y, T z) noexcept {SIMT_ROUNDED_ALONE(T, expression)} SIMT_DIRECTED_3(     \
      T, name##_rz, FE_TOWARDZERO, expression) SIMT_DIRECTED_3(T, name##_rd, FE_DOWNWARD, expression) \
      SIMT_DIRECTED_3(T, name##_ru, FE_UPWARD, expression)
#define SIMT_DIRECTED_3(T, name, mode, expression)                 \
  inline T name(T x_, T y_, T z_) noexcept {                       \
    volatile T x = x_, y = y_, z = z_;                             \
    return simt::rounded(mode, [&]() -> T { return expression; }); \
  }
SIMT_ROUNDED_2(float, __fadd, x + y)
SIMT_ROUNDED_2(float, __fsub, x - y)
SIMT_ROUNDED_2(float, __fmul, x* y)
SIMT_ROUNDED_2(float, __fdiv, x / y)
SIMT_ROUNDED_1(float, __frcp, 1.0f / x)
SIMT_ROUNDED_1(float, __fsqrt, sqrtf(x))
SIMT_ROUNDED_3(float, __fmaf, fmaf(x, y, z))
SIMT_ROUNDED_2(double, __dadd, x + y)
SIMT_ROUNDED_2(double, __dsub, x - y)
SIMT_ROUNDED_2(double, __dmul, x* y)
SIMT_ROUNDED_2(double, __ddiv, x / y)
SIMT_ROUNDED_1(double, __drcp, 1.0 / x)
SIMT_ROUNDED_1(double, __dsqrt, sqrt(x))
SIMT_ROUNDED_3(double, __fma, fma(x, y, z))
#undef SIMT_ROUNDED_3
#undef SIMT_DIRECTED_3
#undef SIMT_ROUNDED_2
#undef SIMT_DIRECTED_2
#undef SIMT_ROUNDED_1
#undef SIMT_DIRECTED_1
#undef SIMT_ROUNDED_ALONE
inline float __frsqrt_rn(float x) noexcept {
  return rsqrtf(x);
}
// The ieee forms keep denormals where a compiler's option would flush them; here they are always kept.
#define SIMT_FMA_IEEE(mode)                                             \
  inline float __fmaf_ieee_##mode(float x, float y, float z) noexcept { \
    return __fmaf_##mode(x, y, z);                                      \
  }
SIMT_FMA_IEEE(rn)
SIMT_FMA_IEEE(rz)
SIMT_FMA_IEEE(rd)
SIMT_FMA_IEEE(ru)
#undef SIMT_FMA_IEEE

// ---- conversions ----

namespace simt {
// As cvt does: saturating; NaN gives 0, or the lone top bit where either side has 64 bits.
template <class Integer, class Float>
inline Integer saturating_cast(Float x) noexcept {
  constexpr bool kSigned = static_cast<Integer>(-1) < static_cast<Integer>(0);
  constexpr int kBits = 8 * static_cast<int>(sizeof(Integer));
  using Unsigned = unsigned long long;
  constexpr Integer kTopBit = static_cast<Integer>(static_cast<Unsigned>(1) << (kBits - 1));
  constexpr Integer kLeast = kSigned ? kTopBit : static_cast<Integer>(0);
  constexpr Integer kMost = static_cast<Integer>(~kLeast);
  // The first power of two that does not fit, exact in every type.
  const Float limit = static_cast<Float>(static_cast<Unsigned>(1) << (kBits - (kSigned ? 2 : 1))) * 2;
  if (x != x) return sizeof(Integer) == 8 || sizeof(Float) == 8 ? kTopBit : static_cast<Integer>(0);
  if (x >= limit) return kMost;
  if (kSigned ? x < -limit : x <= Float(0)) return kLeast;
  return static_cast<Integer>(x);
}
}  // namespace simt

#define SIMT_TO_INTEGER(Float, from, Integer, to)         \
  inline Integer __##from##2##to##_rn(Float x) noexcept { \
    return simt::saturating_cast<Integer>(::rint(x));     \
  }                                                       \
  inline Integer __##from##2##to##_rz(Float x) noexcept { \
    return simt::saturating_cast<Integer>(::trunc(x));    \
  }                                                       \
  inline Integer __##from##2##to##_rd(Float x) noexcept { \
    return simt::saturating_cast<Integer>(::floor(x));    \
  }                                                       \
  inline Integer __##from##2##to##_ru(Float x) noexcept { \
    return simt::saturating_cast<Integer>(::ceil(x));     \
  }
SIMT_TO_INTEGER(float, float, int, int)
SIMT_TO_INTEGER(float, float, unsigned int, uint)
SIMT_TO_INTEGER(float, float, long long, ll)
SIMT_TO_INTEGER(float, float, unsigned long long, ull)
SIMT_TO_INTEGER(double, double, int, int)
SIMT_TO_INTEGER(double, double, unsigned int, uint)
SIMT_TO_INTEGER(double, double, long long, ll)
SIMT_TO_INTEGER(double, double, unsigned long long, ull)
#undef SIMT_TO_INTEGER

#define SIMT_CONVERSION(From, from, To, to)         \
  inline To __##from##2##to##_rn(From x) noexcept { \
    return static_cast<To>(x);                      \
  }                                                 \
  inline To __##from##2##to##_rz(From x) noexcept { \
    return simt::convert<To>(FE_TOWARDZERO, x);     \
  }                                                 \
  inline To __##from##2##to##_rd(From x) noexcept { \
    return simt::convert<To>(FE_DOWNWARD, x);       \
  }                                                 \
  inline To __##from##2##to##_ru(From x) noexcept { \
    return simt::convert<To>(FE_UPWARD, x);         \
  }
SIMT_CONVERSION(int, int, float, float)
SIMT_CONVERSION(unsigned int, uint, float, float)
SIMT_CONVERSION(long long, ll, float, float)
SIMT_CONVERSION(unsigned long long, ull, float, float)
SIMT_CONVERSION(long long, ll, double, double)
SIMT_CONVERSION(unsigned long long, ull, double, double)
SIMT_CONVERSION(double, double, float, float)
#undef SIMT_CONVERSION
inline double __int2double_rn(int x) noexcept {
  return x;
}
inline double __uint2double_rn(unsigned int x) noexcept {
  return x;
}

inline int float2int(float x) noexcept {
  return __float2int_rz(x);
}
inline float int2float(int x) noexcept {
  return static_cast<float>(x);
}

// ---- fast mathematics ----
// A GPU trades accuracy for speed here; these are exact to float's last bit or so, except where the limited
// range of the real instruction gives another value altogether. Some names are already declared by glibc, as
// noexcept.

inline float __expf(float x) noexcept {
  return expf(x);
}
inline float __exp10f(float x) noexcept {
  return exp10f(x);
}
inline float __logf(float x) noexcept {
  return logf(x);
}
inline float __log2f(float x) noexcept {
  return log2f(x);
}
inline float __log10f(float x) noexcept {
  return log10f(x);
}
// By its definition: a negative base gives NaN, and so does 0 to the 0th.
inline float __powf(float x, float y) noexcept {
  return exp2f(y * log2f(x));
}
inline float __sinf(float x) noexcept {
  return sinf(x);
}
inline float __cosf(float x) noexcept {
  return cosf(x);
}
inline float __tanf(float x) noexcept {
  return tanf(x);
}
inline float __tanhf(float x) noexcept {
  return tanhf(x);
}
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  sincosf(x, sine, cosine);
}
// Documented: for a divisor between 2^126 and 2^128 the result is 0 (NaN for an infinite dividend).
inline float __fdividef(float x, float y) noexcept {
  const float size = fabsf(y);
  if (size > 8.50705917e37f && size <= 3.40282347e38f) return x * 0.0f;
  return x / y;
}
inline float __saturatef(float x) noexcept {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
inline float saturate(float x) noexcept {
  return __saturatef(x);
}

inline int __finitef(float x) noexcept {
  return __builtin_isfinite(x);
}
inline int __isinff(float x) noexcept {
  return __builtin_isinf(x);
}
inline int __isnanf(float x) noexcept {
  return __builtin_isnan(x);
}

#include "simt/dynamic_programming.h"
#include "simt/simd_in_word.h"

#endif
