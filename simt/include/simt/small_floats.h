// SPDX-License-Identifier: MIT
//
// Floating-point formats of 8, 6 and 4 bits on bit patterns, from and to numbers of the host.
#pragma once

#include <math.h>

#include "device_types.h"
#include "simt/float16_bits.h"

// What becomes of a number beyond the format's range: its infinity or NaN, or the largest number.
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;

namespace simt {

// Sign, exponent, mantissa as in IEEE 754, but for the patterns at the top.
struct SmallFormat {
  int mantissa;       // bits
  int bias;           // of the exponent
  unsigned sign;      // the sign's bit
  unsigned greatest;  // pattern of the largest number
  unsigned overflow;  // of what lies beyond it: infinity or NaN
  unsigned nan;       // of NaN; 0: there is none
};
constexpr SmallFormat kE4M3 = {3, 7, 0x80, 0x7e, 0x7f, 0x7f};
constexpr SmallFormat kE5M2 = {2, 15, 0x80, 0x7b, 0x7c, 0x7f};
constexpr SmallFormat kE3M2 = {2, 3, 0x20, 0x1f, 0x1f, 0};
constexpr SmallFormat kE2M3 = {3, 1, 0x20, 0x1f, 0x1f, 0};
constexpr SmallFormat kE2M1 = {1, 1, 0x08, 0x07, 0x07, 0};

// NaN: E4M3 keeps its sign, E5M2 the upper bits as well.
inline unsigned nan_bits(const SmallFormat& format, double x) noexcept {
  if (format.nan == 0) return format.greatest;
  unsigned long long bits;
  memcpy(&bits, &x, sizeof(bits));
  const unsigned payload =
      format.mantissa == 2 ? 0x7cu | 2u | static_cast<unsigned>(bits >> 50 & 3u) : format.nan;
  return payload | (bits >> 63 ? format.sign : 0u);
}
// A float as a double; every NaN becomes the one.
inline double widened(float x) noexcept {
  return x != x ? static_cast<double>(float_of_bits(0x7fffffffu)) : static_cast<double>(x);
}

// To nearest even, or toward zero.
inline unsigned small_bits(const SmallFormat& format, double x, bool finite,
                           cudaRoundMode mode = cudaRoundNearest) noexcept {
  if (x != x) return nan_bits(format, x);
  const unsigned sign = signbit(x) ? format.sign : 0u;
  const double size = fabs(x);
  // A number is a whole count of steps: 2^(exponent - mantissa), no smaller than the least exponent's.
  const int least = 1 - format.bias;
  const int exponent = size < ldexp(1.0, least) ? least : size > 1e300 ? 1000 : ilogb(size);
  if (exponent > 100) return sign | (finite ? format.greatest : format.overflow);
  const double steps = ldexp(size, format.mantissa - exponent);
  const double whole = floor(steps), rest = steps - whole;
  unsigned bits = static_cast<unsigned>(whole);
  if (mode == cudaRoundNearest && (rest > 0.5 || (rest == 0.5 && (bits & 1u)))) ++bits;
  // The leading bit of a normal number adds 1 to the exponent field, and so does a carry.
  bits += static_cast<unsigned>(exponent - least) << format.mantissa;
  return sign | (bits <= format.greatest ? bits : finite ? format.greatest : format.overflow);
}

inline float small_value(const SmallFormat& format, unsigned bits) noexcept {
  const unsigned size = bits & (format.sign - 1);
  if (size > format.greatest)
    return float_of_bits(size == format.overflow && format.overflow != format.nan
                             ? (bits & format.sign ? 0xff800000u : 0x7f800000u)
                             : 0x7fffffffu);
  const int exponent = static_cast<int>(size >> format.mantissa);
  const unsigned mantissa = size & ((1u << format.mantissa) - 1);
  const unsigned steps = exponent == 0 ? mantissa : mantissa | 1u << format.mantissa;
  const float value =
      ldexpf(static_cast<float>(steps), (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa);
  return bits & format.sign ? -value : value;
}

// E8M0, a power of two: the exponent alone, 2^(bits - 127); 0xff is NaN. The sign is lost, zero becomes the
// least power.
inline unsigned char power_bits(double x, bool finite, cudaRoundMode mode) noexcept {
  if (x != x) return 0xff;
  const double size = fabs(x);
  if (size <= 0x1p-127) return 0;
  int exponent = size > 1e300 ? 1000 : ilogb(size);
  if (mode != cudaRoundZero && exponent < 1000 && ldexp(1.0, exponent) < size) ++exponent;
  if (exponent > 127)
    return finite || (mode == cudaRoundZero && size <= 1.7976931348623157e308) ? 0xfe : 0xff;
  return static_cast<unsigned char>(exponent + 127);
}
inline float power_value(unsigned bits) noexcept {
  return bits == 0xff ? float_of_bits(0x7fffffffu) : ldexpf(1.0f, static_cast<int>(bits) - 127);
}

}  // namespace simt
