// SPDX-License-Identifier: MIT
//
// The classes of one small floating-point format: a number, a pair, four of them. cuda_fp8.h, cuda_fp6.h and
// cuda_fp4.h include this once a format, after defining
//   SIMT_SMALL, SIMT_SMALL2, SIMT_SMALL4   the classes
//   SIMT_SMALL_STORAGE(n)                  the integer that holds n numbers
//   SIMT_SMALL_WIDTH                       bits from one number to the next
//   SIMT_SMALL_ENCODE(x), _DECODE(bits)    double to bits, bits to float
//   SIMT_SMALL_IS_ZERO(bits)

struct SIMT_SMALL {
  SIMT_SMALL_STORAGE() __x;

  SIMT_SMALL() = default;
  explicit SIMT_SMALL(const __half x) : SIMT_SMALL(static_cast<float>(x)) {}
  explicit SIMT_SMALL(const __nv_bfloat16 x) : SIMT_SMALL(static_cast<float>(x)) {}
  explicit SIMT_SMALL(const float x) : SIMT_SMALL(simt::widened(x)) {}
  explicit SIMT_SMALL(const double x) : __x(static_cast<SIMT_SMALL_STORAGE()>(SIMT_SMALL_ENCODE(x))) {}
  // An integer rounded to odd lies on the same side of every short number as the integer does.
  explicit SIMT_SMALL(const unsigned short x) : SIMT_SMALL(simt::odd_float(x)) {}
  explicit SIMT_SMALL(const unsigned int x) : SIMT_SMALL(simt::odd_float(x)) {}
  explicit SIMT_SMALL(const unsigned long x) : SIMT_SMALL(static_cast<unsigned long long>(x)) {}
  explicit SIMT_SMALL(const unsigned long long x) : SIMT_SMALL(simt::odd_float(x)) {}
  explicit SIMT_SMALL(const short x) : SIMT_SMALL(simt::odd_float(x)) {}
  explicit SIMT_SMALL(const int x) : SIMT_SMALL(simt::odd_float(x)) {}
  explicit SIMT_SMALL(const long x) : SIMT_SMALL(static_cast<long long>(x)) {}
  explicit SIMT_SMALL(const long long x) : SIMT_SMALL(simt::odd_float(x)) {}

  explicit operator float() const { return SIMT_SMALL_DECODE(__x); }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  explicit operator __half() const { return __half(static_cast<float>(*this)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }
  // Toward zero, into the integer's range; NaN as the conversions from half do.
  explicit operator unsigned char() const { return static_cast<unsigned char>(whole(0, 255)); }
  explicit operator signed char() const { return static_cast<signed char>(whole(-128, 127)); }
  explicit operator char() const {
    return static_cast<char>(static_cast<char>(-1) < 0 ? whole(-128, 127) : whole(0, 255));
  }
  explicit operator unsigned short() const { return static_cast<unsigned short>(whole(0, 65535)); }
  explicit operator short() const { return static_cast<short>(whole(-32768, 32767)); }
  explicit operator unsigned int() const { return __float2uint_rz(static_cast<float>(*this)); }
  explicit operator int() const { return __float2int_rz(static_cast<float>(*this)); }
  explicit operator unsigned long() const { return __float2ull_rz(static_cast<float>(*this)); }
  explicit operator long() const { return __float2ll_rz(static_cast<float>(*this)); }
  explicit operator unsigned long long() const { return __float2ull_rz(static_cast<float>(*this)); }
  explicit operator long long() const { return __float2ll_rz(static_cast<float>(*this)); }
  explicit operator bool() const { return !(SIMT_SMALL_IS_ZERO(__x)); }

 private:
  int whole(int least, int most) const {
    const int x = __float2int_rz(static_cast<float>(*this));
    return x < least ? least : x > most ? most : x;
  }
};

namespace simt {
// The i-th of several numbers in one integer, and several numbers as one integer.
inline float SIMT_SMALL_NAME(value_of_)(unsigned int bits, int i) {
  constexpr unsigned int kMask = (1u << SIMT_SMALL_WIDTH) - 1;
  return SIMT_SMALL_DECODE(bits >> (SIMT_SMALL_WIDTH * i) & kMask);
}
template <class T>
inline unsigned int SIMT_SMALL_NAME(bits_of_)(T low, T high) {
  return static_cast<unsigned int>(SIMT_SMALL(low).__x) | static_cast<unsigned int>(SIMT_SMALL(high).__x)
                                                              << SIMT_SMALL_WIDTH;
}
template <class T>
inline unsigned int SIMT_SMALL_NAME(bits_of_)(T a, T b, T c, T d) {
  return SIMT_SMALL_NAME(bits_of_)(a, b) | SIMT_SMALL_NAME(bits_of_)(c, d) << (2 * SIMT_SMALL_WIDTH);
}
}  // namespace simt

struct alignas(SIMT_SMALL_STORAGE(x2)) SIMT_SMALL2 {
  SIMT_SMALL_STORAGE(x2) __x;

  SIMT_SMALL2() = default;
#define SIMT_SMALL_FROM_PAIR(Pair)   \
  explicit SIMT_SMALL2(const Pair v) \
      : __x(static_cast<SIMT_SMALL_STORAGE(x2)>(simt::SIMT_SMALL_NAME(bits_of_)(v.x, v.y))) {}
  SIMT_SMALL_FROM_PAIR(__half2)
  SIMT_SMALL_FROM_PAIR(__nv_bfloat162)
  SIMT_SMALL_FROM_PAIR(float2)
  SIMT_SMALL_FROM_PAIR(double2)
#undef SIMT_SMALL_FROM_PAIR
  explicit operator float2() const {
    return make_float2(simt::SIMT_SMALL_NAME(value_of_)(__x, 0), simt::SIMT_SMALL_NAME(value_of_)(__x, 1));
  }
  explicit operator __half2() const {
    return __float22half2_rn(static_cast<float2>(*this));
  }
  explicit operator __nv_bfloat162() const {
    return __float22bfloat162_rn(static_cast<float2>(*this));
  }
};

struct alignas(SIMT_SMALL_STORAGE(x4)) SIMT_SMALL4 {
  SIMT_SMALL_STORAGE(x4) __x;

  SIMT_SMALL4() = default;
#define SIMT_SMALL_FROM_TWO_PAIRS(Pair)                 \
  explicit SIMT_SMALL4(const Pair low, const Pair high) \
      : __x(static_cast<SIMT_SMALL_STORAGE(x4)>(        \
            simt::SIMT_SMALL_NAME(bits_of_)(low.x, low.y, high.x, high.y))) {}
  SIMT_SMALL_FROM_TWO_PAIRS(__half2)
  SIMT_SMALL_FROM_TWO_PAIRS(__nv_bfloat162)
#undef SIMT_SMALL_FROM_TWO_PAIRS
#define SIMT_SMALL_FROM_FOUR(Four)   \
  explicit SIMT_SMALL4(const Four v) \
      : __x(static_cast<SIMT_SMALL_STORAGE(x4)>(simt::SIMT_SMALL_NAME(bits_of_)(v.x, v.y, v.z, v.w))) {}
  SIMT_SMALL_FROM_FOUR(float4)
  SIMT_SMALL_FROM_FOUR(double4)
  SIMT_SMALL_FROM_FOUR(double4_16a)
  SIMT_SMALL_FROM_FOUR(double4_32a)
#undef SIMT_SMALL_FROM_FOUR
  explicit operator float4() const {
    return make_float4(simt::SIMT_SMALL_NAME(value_of_)(__x, 0), simt::SIMT_SMALL_NAME(value_of_)(__x, 1),
                       simt::SIMT_SMALL_NAME(value_of_)(__x, 2), simt::SIMT_SMALL_NAME(value_of_)(__x, 3));
  }
};

#undef SIMT_SMALL
#undef SIMT_SMALL2
#undef SIMT_SMALL4
#undef SIMT_SMALL_NAME
#undef SIMT_SMALL_STORAGE
#undef SIMT_SMALL_WIDTH
#undef SIMT_SMALL_ENCODE
#undef SIMT_SMALL_DECODE
#undef SIMT_SMALL_IS_ZERO
