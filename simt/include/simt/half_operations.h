// SPDX-License-Identifier: MIT
//
// One 16-bit floating-point type, its pair, and all that CUDA does with them. cuda_fp16.h and cuda_bf16.h
// include this once each, after defining
//   SIMT_HALF, SIMT_HALF2           the two types
//   SIMT_HALF_RAW, SIMT_HALF2_RAW   their plain structs
//   SIMT_HALF_FORMAT                simt::HalfFormat or simt::Bfloat16Format
//   SIMT_HALF_NAME(a, b)            a##half##b or a##bfloat16##b
//   SIMT_HALF_OTHER                 the other 16-bit type
//
// Arithmetic computes in float, where a sum, product, quotient or root of two such numbers rounds correctly
// twice (24 >= 2 * 11 + 2 bits), and a fused multiply-add goes through simt::fma_round_to_odd: each result is
// rounded once.

struct SIMT_HALF_RAW {
  unsigned short x;
};
struct SIMT_HALF2_RAW {
  unsigned short x, y;
};

struct SIMT_HALF_OTHER;
struct SIMT_HALF {
  unsigned short __x;

  SIMT_HALF() = default;
  constexpr SIMT_HALF(const SIMT_HALF_RAW& raw) : __x(raw.x) {}
  SIMT_HALF(float x) : __x(SIMT_HALF_FORMAT::from_float(x)) {}
  SIMT_HALF(double x) : __x(simt::from_double<SIMT_HALF_FORMAT>(x)) {}
  SIMT_HALF(short x) : SIMT_HALF(static_cast<float>(x)) {}
  SIMT_HALF(unsigned short x) : SIMT_HALF(static_cast<float>(x)) {}
  SIMT_HALF(int x) : SIMT_HALF(static_cast<double>(x)) {}
  SIMT_HALF(unsigned int x) : SIMT_HALF(static_cast<double>(x)) {}
  SIMT_HALF(long x) : __x(simt::from_integer<SIMT_HALF_FORMAT>(static_cast<long long>(x))) {}
  SIMT_HALF(unsigned long x)
      : __x(simt::from_integer<SIMT_HALF_FORMAT>(static_cast<unsigned long long>(x))) {}
  SIMT_HALF(long long x) : __x(simt::from_integer<SIMT_HALF_FORMAT>(x)) {}
  SIMT_HALF(unsigned long long x) : __x(simt::from_integer<SIMT_HALF_FORMAT>(x)) {}
  explicit SIMT_HALF(const SIMT_HALF_OTHER& x);  // in cuda_bf16.h

  operator float() const { return SIMT_HALF_FORMAT::to_float(__x); }
  operator SIMT_HALF_RAW() const { return SIMT_HALF_RAW{__x}; }
  operator SIMT_HALF_RAW() const volatile { return SIMT_HALF_RAW{__x}; }
  // To integers: toward zero, saturating, as the hardware does.
  operator signed char() const { return static_cast<signed char>(to_integer<short>(-128, 127)); }
  operator unsigned char() const { return static_cast<unsigned char>(to_integer<short>(0, 255)); }
  operator char() const {
    return static_cast<char>(static_cast<char>(-1) < 0 ? to_integer<short>(-128, 127)
                                                       : to_integer<short>(0, 255));
  }
  operator short() const { return to_integer<short>(-32768, 32767); }
  operator unsigned short() const { return to_integer<unsigned short>(0, 65535); }
  operator int() const { return __float2int_rz(*this); }
  operator unsigned int() const { return __float2uint_rz(*this); }
  operator long() const { return static_cast<long>(__float2ll_rz(*this)); }
  operator unsigned long() const { return static_cast<unsigned long>(__float2ull_rz(*this)); }
  operator long long() const { return __float2ll_rz(*this); }
  operator unsigned long long() const { return __float2ull_rz(*this); }
  constexpr operator bool() const { return (__x & 0x7fffu) != 0; }

  SIMT_HALF& operator=(const SIMT_HALF_RAW& raw) {
    __x = raw.x;
    return *this;
  }
  SIMT_HALF& operator=(float x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(double x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(short x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(unsigned short x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(int x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(unsigned int x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(long long x) { return *this = SIMT_HALF(x); }
  SIMT_HALF& operator=(unsigned long long x) { return *this = SIMT_HALF(x); }

 private:
  template <class Integer>
  Integer to_integer(int least, int most) const {
    const int whole = __float2int_rz(*this);
    return static_cast<Integer>(whole < least ? least : whole > most ? most : whole);
  }
};

// Both halves move in one 4-byte access (see vector_types.h), so the copies are written out, as in CUDA's own
// header.
struct alignas(4) SIMT_HALF2 {
  SIMT_HALF x, y;

  SIMT_HALF2() = default;
  constexpr SIMT_HALF2(const SIMT_HALF& low, const SIMT_HALF& high) : x(low), y(high) {}
  constexpr SIMT_HALF2(const SIMT_HALF2_RAW& raw) : x(SIMT_HALF_RAW{raw.x}), y(SIMT_HALF_RAW{raw.y}) {}
  SIMT_HALF2(const SIMT_HALF2& other) { whole() = other.whole(); }
  SIMT_HALF2& operator=(const SIMT_HALF2& other) {
    whole() = other.whole();
    return *this;
  }
  SIMT_HALF2& operator=(const SIMT_HALF2_RAW& raw) { return *this = SIMT_HALF2(raw); }
  operator SIMT_HALF2_RAW() const { return SIMT_HALF2_RAW{x.__x, y.__x}; }

 private:
  simt_whole4& whole() { return *reinterpret_cast<simt_whole4*>(this); }
  const simt_whole4& whole() const { return *reinterpret_cast<const simt_whole4*>(this); }
};

// ---- bits and conversions ----

inline unsigned short SIMT_HALF_NAME(__, _as_ushort)(SIMT_HALF h) {
  return h.__x;
}
inline short SIMT_HALF_NAME(__, _as_short)(SIMT_HALF h) {
  return static_cast<short>(h.__x);
}
inline constexpr SIMT_HALF SIMT_HALF_NAME(__ushort_as_, )(unsigned short bits) {
  return SIMT_HALF_RAW{bits};
}
inline constexpr SIMT_HALF SIMT_HALF_NAME(__short_as_, )(short bits) {
  return SIMT_HALF_RAW{static_cast<unsigned short>(bits)};
}

inline float SIMT_HALF_NAME(__, 2float)(SIMT_HALF h) {
  return h;
}
inline SIMT_HALF SIMT_HALF_NAME(__float2, )(float x) {
  return x;
}
inline SIMT_HALF SIMT_HALF_NAME(__float2, _rn)(float x) {
  return x;
}
inline SIMT_HALF SIMT_HALF_NAME(__float2, _rz)(float x) {
  return SIMT_HALF_RAW{simt::round_to_zero<SIMT_HALF_FORMAT>(x)};
}
inline SIMT_HALF SIMT_HALF_NAME(__float2, _rd)(float x) {
  return SIMT_HALF_RAW{simt::round_down<SIMT_HALF_FORMAT>(x)};
}
inline SIMT_HALF SIMT_HALF_NAME(__float2, _ru)(float x) {
  return SIMT_HALF_RAW{simt::round_up<SIMT_HALF_FORMAT>(x)};
}
inline SIMT_HALF SIMT_HALF_NAME(__double2, )(double x) {
  return x;
}

// From an integer. The odd-rounded float lies on the same side of every 16-bit number as the integer does.
#define SIMT_FROM_INTEGER(Integer, name)                                             \
  inline SIMT_HALF SIMT_HALF_NAME(__##name##2, _rn)(Integer x) {                     \
    return x;                                                                        \
  }                                                                                  \
  inline SIMT_HALF SIMT_HALF_NAME(__##name##2, _rz)(Integer x) {                     \
    return SIMT_HALF_RAW{simt::round_to_zero<SIMT_HALF_FORMAT>(simt::odd_float(x))}; \
  }                                                                                  \
  inline SIMT_HALF SIMT_HALF_NAME(__##name##2, _rd)(Integer x) {                     \
    return SIMT_HALF_RAW{simt::round_down<SIMT_HALF_FORMAT>(simt::odd_float(x))};    \
  }                                                                                  \
  inline SIMT_HALF SIMT_HALF_NAME(__##name##2, _ru)(Integer x) {                     \
    return SIMT_HALF_RAW{simt::round_up<SIMT_HALF_FORMAT>(simt::odd_float(x))};      \
  }
SIMT_FROM_INTEGER(short, short)
SIMT_FROM_INTEGER(unsigned short, ushort)
SIMT_FROM_INTEGER(int, int)
SIMT_FROM_INTEGER(unsigned int, uint)
SIMT_FROM_INTEGER(long long, ll)
SIMT_FROM_INTEGER(unsigned long long, ull)
#undef SIMT_FROM_INTEGER

#define SIMT_TO_INTEGER(mode)                                                      \
  inline int SIMT_HALF_NAME(__, 2int_##mode)(SIMT_HALF h) {                        \
    return __float2int_##mode(h);                                                  \
  }                                                                                \
  inline unsigned int SIMT_HALF_NAME(__, 2uint_##mode)(SIMT_HALF h) {              \
    return __float2uint_##mode(h);                                                 \
  }                                                                                \
  inline long long SIMT_HALF_NAME(__, 2ll_##mode)(SIMT_HALF h) {                   \
    return __float2ll_##mode(h);                                                   \
  }                                                                                \
  inline unsigned long long SIMT_HALF_NAME(__, 2ull_##mode)(SIMT_HALF h) {         \
    return __float2ull_##mode(h);                                                  \
  }                                                                                \
  inline short SIMT_HALF_NAME(__, 2short_##mode)(SIMT_HALF h) {                    \
    return static_cast<short>(min(max(__float2int_##mode(h), -32768), 32767));     \
  }                                                                                \
  inline unsigned short SIMT_HALF_NAME(__, 2ushort_##mode)(SIMT_HALF h) {          \
    return static_cast<unsigned short>(min(max(__float2int_##mode(h), 0), 65535)); \
  }
SIMT_TO_INTEGER(rn)
SIMT_TO_INTEGER(rz)
SIMT_TO_INTEGER(rd)
SIMT_TO_INTEGER(ru)
#undef SIMT_TO_INTEGER
inline signed char SIMT_HALF_NAME(__, 2char_rz)(SIMT_HALF h) {
  return h;
}
inline unsigned char SIMT_HALF_NAME(__, 2uchar_rz)(SIMT_HALF h) {
  return h;
}

// ---- pairs ----

inline SIMT_HALF2 SIMT_HALF_NAME(make_, 2)(SIMT_HALF low, SIMT_HALF high) {
  return SIMT_HALF2(low, high);
}
inline float __low2float(SIMT_HALF2 a) {
  return a.x;
}
inline float __high2float(SIMT_HALF2 a) {
  return a.y;
}
inline SIMT_HALF SIMT_HALF_NAME(__low2, )(SIMT_HALF2 a) {
  return a.x;
}
inline SIMT_HALF SIMT_HALF_NAME(__high2, )(SIMT_HALF2 a) {
  return a.y;
}
inline SIMT_HALF2 SIMT_HALF_NAME(__low2, 2)(SIMT_HALF2 a) {
  return SIMT_HALF2(a.x, a.x);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__high2, 2)(SIMT_HALF2 a) {
  return SIMT_HALF2(a.y, a.y);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__lows2, 2)(SIMT_HALF2 a, SIMT_HALF2 b) {
  return SIMT_HALF2(a.x, b.x);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__highs2, 2)(SIMT_HALF2 a, SIMT_HALF2 b) {
  return SIMT_HALF2(a.y, b.y);
}
inline SIMT_HALF2 __lowhigh2highlow(SIMT_HALF2 a) {
  return SIMT_HALF2(a.y, a.x);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__halves2, 2)(SIMT_HALF low, SIMT_HALF high) {
  return SIMT_HALF2(low, high);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__float2, 2_rn)(float x) {
  return SIMT_HALF2(x, x);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__floats2, 2_rn)(float low, float high) {
  return SIMT_HALF2(low, high);
}
inline SIMT_HALF2 SIMT_HALF_NAME(__float22, 2_rn)(float2 a) {
  return SIMT_HALF2(a.x, a.y);
}

// ---- arithmetic ----

namespace simt {
inline SIMT_HALF fused(SIMT_HALF a, SIMT_HALF b, SIMT_HALF c) {
  return SIMT_HALF(fma_round_to_odd(float(a), float(b), float(c)));
}
// [+0, 1]; NaN gives 0.
inline SIMT_HALF saturated(SIMT_HALF a) {
  return SIMT_HALF(__saturatef(float(a)));
}
// Negative gives +0, and so does -0; NaN stays.
inline SIMT_HALF not_negative(SIMT_HALF a) {
  return float(a) <= 0.0f ? SIMT_HALF(0.0f) : a;
}
// With another sign. Every NaN becomes the one.
inline SIMT_HALF with_sign(SIMT_HALF a, unsigned int sign) {
  const float value = a;
  return value != value ? SIMT_HALF_RAW{0x7fffu}
                        : SIMT_HALF_RAW{static_cast<unsigned short>((a.__x & 0x7fffu) | (sign & 0x8000u))};
}
}  // namespace simt

// name(a, b) of halves and name2(a, b) of pairs.
#define SIMT_HALF_BINARY(name, name2, expression)       \
  inline SIMT_HALF name(SIMT_HALF a, SIMT_HALF b) {     \
    return expression;                                  \
  }                                                     \
  inline SIMT_HALF2 name2(SIMT_HALF2 a, SIMT_HALF2 b) { \
    return SIMT_HALF2(name(a.x, b.x), name(a.y, b.y));  \
  }
#define SIMT_HALF_UNARY(name, name2, expression) \
  inline SIMT_HALF name(SIMT_HALF a) {           \
    return expression;                           \
  }                                              \
  inline SIMT_HALF2 name2(SIMT_HALF2 a) {        \
    return SIMT_HALF2(name(a.x), name(a.y));     \
  }
#define SIMT_HALF_TERNARY(name, name2, expression)                    \
  inline SIMT_HALF name(SIMT_HALF a, SIMT_HALF b, SIMT_HALF c) {      \
    return expression;                                                \
  }                                                                   \
  inline SIMT_HALF2 name2(SIMT_HALF2 a, SIMT_HALF2 b, SIMT_HALF2 c) { \
    return SIMT_HALF2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));      \
  }
SIMT_HALF_BINARY(__hadd, __hadd2, SIMT_HALF(float(a) + float(b)))
SIMT_HALF_BINARY(__hsub, __hsub2, SIMT_HALF(float(a) - float(b)))
SIMT_HALF_BINARY(__hmul, __hmul2, SIMT_HALF(float(a) * float(b)))
SIMT_HALF_BINARY(__hdiv, __h2div, SIMT_HALF(float(a) / float(b)))
SIMT_HALF_BINARY(__hadd_rn, __hadd2_rn, __hadd(a, b))
SIMT_HALF_BINARY(__hsub_rn, __hsub2_rn, __hsub(a, b))
SIMT_HALF_BINARY(__hmul_rn, __hmul2_rn, __hmul(a, b))
SIMT_HALF_BINARY(__hadd_sat, __hadd2_sat, simt::saturated(__hadd(a, b)))
SIMT_HALF_BINARY(__hsub_sat, __hsub2_sat, simt::saturated(__hsub(a, b)))
SIMT_HALF_BINARY(__hmul_sat, __hmul2_sat, simt::saturated(__hmul(a, b)))
SIMT_HALF_TERNARY(__hfma, __hfma2, simt::fused(a, b, c))
SIMT_HALF_TERNARY(__hfma_sat, __hfma2_sat, simt::saturated(simt::fused(a, b, c)))
SIMT_HALF_TERNARY(__hfma_relu, __hfma2_relu, simt::not_negative(simt::fused(a, b, c)))
SIMT_HALF_UNARY(__hneg, __hneg2, simt::with_sign(a, ~unsigned{a.__x}))
SIMT_HALF_UNARY(__habs, __habs2, simt::with_sign(a, 0))
// Complex multiply-accumulate: x is the real part.
inline SIMT_HALF2 __hcmadd(SIMT_HALF2 a, SIMT_HALF2 b, SIMT_HALF2 c) {
  const SIMT_HALF real = __hfma(a.x, b.x, c.x), imaginary = __hfma(a.x, b.y, c.y);
  return SIMT_HALF2(__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imaginary));
}

inline SIMT_HALF operator+(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hadd(a, b);
}
inline SIMT_HALF operator-(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hsub(a, b);
}
inline SIMT_HALF operator*(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hmul(a, b);
}
inline SIMT_HALF operator/(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hdiv(a, b);
}
inline SIMT_HALF operator+(const SIMT_HALF& a) {
  return a;
}
inline SIMT_HALF operator-(const SIMT_HALF& a) {
  return __hneg(a);
}
inline SIMT_HALF2 operator+(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hadd2(a, b);
}
inline SIMT_HALF2 operator-(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hsub2(a, b);
}
inline SIMT_HALF2 operator*(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hmul2(a, b);
}
inline SIMT_HALF2 operator/(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __h2div(a, b);
}
inline SIMT_HALF2 operator+(const SIMT_HALF2& a) {
  return a;
}
inline SIMT_HALF2 operator-(const SIMT_HALF2& a) {
  return __hneg2(a);
}
#define SIMT_HALF_ASSIGNMENT(T, operation)            \
  inline T& operator operation##=(T& a, const T& b) { \
    return a = a operation b;                         \
  }
SIMT_HALF_ASSIGNMENT(SIMT_HALF, +)
SIMT_HALF_ASSIGNMENT(SIMT_HALF, -)
SIMT_HALF_ASSIGNMENT(SIMT_HALF, *)
SIMT_HALF_ASSIGNMENT(SIMT_HALF, /)
SIMT_HALF_ASSIGNMENT(SIMT_HALF2, +)
SIMT_HALF_ASSIGNMENT(SIMT_HALF2, -)
SIMT_HALF_ASSIGNMENT(SIMT_HALF2, *)
SIMT_HALF_ASSIGNMENT(SIMT_HALF2, /)
#undef SIMT_HALF_ASSIGNMENT
inline SIMT_HALF& operator++(SIMT_HALF& a) {
  return a = a + SIMT_HALF(1.0f);
}
inline SIMT_HALF& operator--(SIMT_HALF& a) {
  return a = a - SIMT_HALF(1.0f);
}
inline SIMT_HALF operator++(SIMT_HALF& a, int) {
  const SIMT_HALF before = a;
  ++a;
  return before;
}
inline SIMT_HALF operator--(SIMT_HALF& a, int) {
  const SIMT_HALF before = a;
  --a;
  return before;
}

// ---- comparison ----
// Ordered relations are false with NaN (not-equal too), the u forms are true. On pairs __hXX2 gives 1.0 or
// 0.0 in each half, __hXX2_mask 0xffff or 0, __hbXX2 whether both halves satisfy it.

inline bool __hisnan(SIMT_HALF a) {
  return __builtin_isnan(float(a));
}
inline int __hisinf(SIMT_HALF a) {
  return __builtin_isinf(float(a)) ? (a.__x & 0x8000u ? -1 : 1) : 0;
}
inline SIMT_HALF2 __hisnan2(SIMT_HALF2 a) {
  return SIMT_HALF2(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}
#define SIMT_HALF_PAIR_RELATION(name)                                                        \
  inline SIMT_HALF2 __h##name##2(SIMT_HALF2 a, SIMT_HALF2 b) {                               \
    return SIMT_HALF2(__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f); \
  }                                                                                          \
  inline unsigned int __h##name##2_mask(SIMT_HALF2 a, SIMT_HALF2 b) {                        \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);  \
  }                                                                                          \
  inline bool __hb##name##2(SIMT_HALF2 a, SIMT_HALF2 b) {                                    \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                       \
  }
#define SIMT_HALF_RELATION(name, relation)                             \
  inline bool __h##name(SIMT_HALF a, SIMT_HALF b) {                    \
    return !__hisnan(a) && !__hisnan(b) && float(a) relation float(b); \
  }                                                                    \
  inline bool __h##name##u(SIMT_HALF a, SIMT_HALF b) {                 \
    return __hisnan(a) || __hisnan(b) || float(a) relation float(b);   \
  }                                                                    \
  SIMT_HALF_PAIR_RELATION(name)                                        \
  SIMT_HALF_PAIR_RELATION(name##u)
SIMT_HALF_RELATION(eq, ==)
SIMT_HALF_RELATION(ne, !=)
SIMT_HALF_RELATION(lt, <)
SIMT_HALF_RELATION(le, <=)
SIMT_HALF_RELATION(gt, >)
SIMT_HALF_RELATION(ge, >=)
#undef SIMT_HALF_RELATION
#undef SIMT_HALF_PAIR_RELATION

// As in C: != is true with NaN, the other relations false.
inline bool operator==(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __heq(a, b);
}
inline bool operator!=(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hneu(a, b);
}
inline bool operator<(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hlt(a, b);
}
inline bool operator<=(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hle(a, b);
}
inline bool operator>(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hgt(a, b);
}
inline bool operator>=(const SIMT_HALF& a, const SIMT_HALF& b) {
  return __hge(a, b);
}
inline bool operator==(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hbeq2(a, b);
}
inline bool operator!=(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hbneu2(a, b);
}
inline bool operator<(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hblt2(a, b);
}
inline bool operator<=(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hble2(a, b);
}
inline bool operator>(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hbgt2(a, b);
}
inline bool operator>=(const SIMT_HALF2& a, const SIMT_HALF2& b) {
  return __hbge2(a, b);
}

namespace simt {
// The smaller of two: NaN loses against a number, or wins in the _nan forms; -0 is below +0.
inline SIMT_HALF lesser(SIMT_HALF a, SIMT_HALF b, bool nan_wins) {
  if (__hisnan(a) || __hisnan(b)) {
    if (nan_wins || (__hisnan(a) && __hisnan(b))) return SIMT_HALF_RAW{0x7fffu};
    return __hisnan(a) ? b : a;
  }
  if (float(a) == float(b)) return a.__x & 0x8000u ? a : b;
  return float(a) < float(b) ? a : b;
}
inline SIMT_HALF greater(SIMT_HALF a, SIMT_HALF b, bool nan_wins) {
  const SIMT_HALF result = lesser(__hneg(a), __hneg(b), nan_wins);
  return __hisnan(result) ? result : __hneg(result);
}
}  // namespace simt
SIMT_HALF_BINARY(__hmin, __hmin2, simt::lesser(a, b, false))
SIMT_HALF_BINARY(__hmax, __hmax2, simt::greater(a, b, false))
SIMT_HALF_BINARY(__hmin_nan, __hmin2_nan, simt::lesser(a, b, true))
SIMT_HALF_BINARY(__hmax_nan, __hmax2_nan, simt::greater(a, b, true))

// ---- functions ----

SIMT_HALF_UNARY(hsqrt, h2sqrt, SIMT_HALF(sqrtf(float(a))))
SIMT_HALF_UNARY(hrsqrt, h2rsqrt, SIMT_HALF(rsqrtf(float(a))))
SIMT_HALF_UNARY(hrcp, h2rcp, SIMT_HALF(1.0f / float(a)))
SIMT_HALF_UNARY(hlog, h2log, SIMT_HALF(logf(float(a))))
SIMT_HALF_UNARY(hlog2, h2log2, SIMT_HALF(log2f(float(a))))
SIMT_HALF_UNARY(hlog10, h2log10, SIMT_HALF(log10f(float(a))))
SIMT_HALF_UNARY(hexp, h2exp, SIMT_HALF(expf(float(a))))
SIMT_HALF_UNARY(hexp2, h2exp2, SIMT_HALF(exp2f(float(a))))
SIMT_HALF_UNARY(hexp10, h2exp10, SIMT_HALF(exp10f(float(a))))
SIMT_HALF_UNARY(hcos, h2cos, SIMT_HALF(cosf(float(a))))
SIMT_HALF_UNARY(hsin, h2sin, SIMT_HALF(sinf(float(a))))
SIMT_HALF_UNARY(htanh, h2tanh, SIMT_HALF(tanhf(float(a))))
SIMT_HALF_UNARY(htanh_approx, h2tanh_approx, SIMT_HALF(tanhf(float(a))))
SIMT_HALF_UNARY(hfloor, h2floor, SIMT_HALF(floorf(float(a))))
SIMT_HALF_UNARY(hceil, h2ceil, SIMT_HALF(ceilf(float(a))))
SIMT_HALF_UNARY(htrunc, h2trunc, SIMT_HALF(truncf(float(a))))
SIMT_HALF_UNARY(hrint, h2rint, SIMT_HALF(rintf(float(a))))

#undef SIMT_HALF_TERNARY
#undef SIMT_HALF_BINARY
#undef SIMT_HALF_UNARY

// ---- atomics ----

#ifdef __CUDACC__
inline SIMT_HALF atomicAdd(SIMT_HALF* address, SIMT_HALF value) {
  return simt::atomic_update(address, [value](SIMT_HALF old) { return __hadd(old, value); });
}
// Each half is atomic, the pair need not be; here it is.
inline SIMT_HALF2 atomicAdd(SIMT_HALF2* address, SIMT_HALF2 value) {
  return simt::atomic_update(address, [value](SIMT_HALF2 old) { return __hadd2(old, value); });
}
#endif
