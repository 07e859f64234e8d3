// SPDX-License-Identifier: MIT
//
// Conversions between float and the two 16-bit formats, on bit patterns. To nearest even unless a mode is
// given; exact at subnormals, overflow and ties. Every NaN becomes the GPU's one NaN, 0x7fff.
#pragma once

#include <math.h>
#include <string.h>

namespace simt {

inline unsigned int float_bits(float x) noexcept {
  unsigned int bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline float float_of_bits(unsigned int bits) noexcept {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// The float nearest to high + low, where |low| is below half a last place of high; but where that is not
// exact, the neighbour with an odd last bit. Such a float rounds to a shorter format as the exact sum would
// ("round to odd": Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline float round_to_odd(double high, double low) noexcept {
  const float nearest = static_cast<float>(high);
  if (!(fabs(high) <= 1.7976931348623157e308)) return nearest;  // infinite or NaN
  const double rest = high - static_cast<double>(nearest);
  const double error = rest != 0.0 ? rest : low;
  unsigned int bits = float_bits(nearest);
  if (error == 0.0 || (bits & 1u)) return nearest;
  // Even and inexact: one step toward the exact value. A zero's sign decides nothing, so take the error's.
  if ((bits & 0x7fffffffu) == 0) return float_of_bits((error < 0.0 ? 0x80000000u : 0u) | 1u);
  const bool away_from_zero = (error < 0.0) == ((bits >> 31) != 0);
  bits = away_from_zero ? bits + 1 : bits - 1;
  return float_of_bits(bits);
}

// a * b + c, exact but for round_to_odd; a and b have at most 24 bits each, so that the product is exact in
// double.
inline float fma_round_to_odd(float a, float b, float c) noexcept {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  // Knuth's two-sum: sum + error is exactly product + addend.
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  return round_to_odd(sum, error);
}

// IEEE half precision: 5 bits of exponent, 10 of mantissa.
struct HalfFormat {
  static unsigned short from_float(float x) noexcept {
    const unsigned int bits = float_bits(x);
    const unsigned int sign = bits >> 16 & 0x8000u;
    const unsigned int size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fffu;
    if (size >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // 65520 and above
    if (size < 0x38800000u) {
      // Below 2^-14 a half counts steps of 2^-24. Those are the last places of 0.5, so the addition rounds.
      const unsigned int steps = float_bits(float_of_bits(size) + 0.5f) - 0x3f000000u;
      return static_cast<unsigned short>(sign | steps);
    }
    // Rebias the exponent by -112, round the 13 dropped bits to even; a carry runs into the exponent as it
    // should.
    const unsigned int rounded = size - (112u << 23) + 0x0fffu + (size >> 13 & 1u);
    return static_cast<unsigned short>(sign | rounded >> 13);
  }
  static float to_float(unsigned short bits) noexcept {
    const unsigned int sign = (bits & 0x8000u) << 16;
    const unsigned int size = bits & 0x7fffu;
    if (size > 0x7c00u) return float_of_bits(0x7fffffffu);
    if (size == 0x7c00u) return float_of_bits(sign | 0x7f800000u);
    if (size < 0x0400u)
      return float_of_bits(sign | float_bits(static_cast<float>(size) * 5.9604644775390625e-8f));
    return float_of_bits(sign | ((size << 13) + (112u << 23)));
  }
};

// bfloat16: the upper half of a float.
struct Bfloat16Format {
  static unsigned short from_float(float x) noexcept {
    const unsigned int bits = float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  static float to_float(unsigned short bits) noexcept {
    return float_of_bits(static_cast<unsigned int>(bits) << 16);
  }
};

// The neighbours in a 16-bit format, by the sign-and-magnitude order of the patterns.
inline unsigned short step_down(unsigned short bits) noexcept {
  return static_cast<unsigned short>(bits & 0x8000u ? bits + 1 : bits - 1);
}
inline unsigned short step_up(unsigned short bits) noexcept {
  return static_cast<unsigned short>(bits & 0x8000u ? bits - 1 : bits + 1);
}
// Directed rounding: from the nearest, one step where that lies on the wrong side.
template <class Format>
inline unsigned short round_down(float x) noexcept {
  const unsigned short nearest = Format::from_float(x);
  return Format::to_float(nearest) > x ? step_down(nearest) : nearest;
}
template <class Format>
inline unsigned short round_up(float x) noexcept {
  const unsigned short nearest = Format::from_float(x);
  return Format::to_float(nearest) < x ? step_up(nearest) : nearest;
}
template <class Format>
inline unsigned short round_to_zero(float x) noexcept {
  return float_bits(x) >> 31 ? round_up<Format>(x) : round_down<Format>(x);
}

// What fits a double goes through round-to-odd, so that the two steps round as one.
template <class Format>
inline unsigned short from_double(double x) noexcept {
  return Format::from_float(round_to_odd(x, 0.0));
}
// An integer as a float rounded to odd. Up to 32 bits are exact in a double; of 64 bits the upper half is,
// and what the lower half adds is kept as the sum's error.
inline float odd_float(int x) noexcept {
  return round_to_odd(x, 0.0);
}
inline float odd_float(unsigned int x) noexcept {
  return round_to_odd(x, 0.0);
}
inline float odd_float(long long x) noexcept {
  const double high = static_cast<double>(x >> 32) * 4294967296.0;
  const double low = static_cast<double>(x & 0xffffffffll);
  const double sum = high + low;
  return round_to_odd(sum, low - (sum - high));
}
inline float odd_float(unsigned long long x) noexcept {
  const double high = static_cast<double>(x >> 32) * 4294967296.0;
  const double low = static_cast<double>(x & 0xffffffffull);
  const double sum = high + low;
  return round_to_odd(sum, low - (sum - high));
}
inline float odd_float(short x) noexcept {
  return x;
}
inline float odd_float(unsigned short x) noexcept {
  return x;
}

template <class Format, class Integer>
inline unsigned short from_integer(Integer x) noexcept {
  return Format::from_float(odd_float(x));
}

}  // namespace simt
