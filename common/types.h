// SPDX-License-Identifier: MIT
//
// Element types: their names in tables and on the command line, their precision, and conversion to and from
// float that rounds to nearest, ties to even, alike on host and device.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/util.h"

// Of <cuda_fp8.h>, which whoever computes with them includes.
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace days {

using half = __half;
using bf16 = __nv_bfloat16;
// 1 sign, 4 bits of exponent, 3 of fraction, no infinity; 1 sign, 5, 2. What is too large becomes the largest.
using fp8_e4m3 = __nv_fp8_e4m3;
using fp8_e5m2 = __nv_fp8_e5m2;

// Two unsigned numbers of 4 bits, the first in the byte's lower half, as CUDA's own packed types have it.
// Counts, extents and indices are in numbers; an odd one leaves the last byte's upper half to nobody.
struct uint4x2 {
  uint8_t bits;

  DAYS_HOST_DEVICE uint8_t lower() const { return bits & 15; }
  DAYS_HOST_DEVICE uint8_t upper() const { return static_cast<uint8_t>(bits >> 4); }
  DAYS_HOST_DEVICE static uint4x2 of(unsigned lower, unsigned upper) {
    return {static_cast<uint8_t>((lower & 15) | upper << 4)};
  }
};
// Bits of an element.
template <class T>
inline constexpr unsigned kBits = 8 * sizeof(T);
template <>
inline constexpr unsigned kBits<uint4x2> = 4;

// Per type: its name; epsilon, the distance from 1 to the next value; denorm_min, the least positive value.
// Both 0 for integers, which are compared exactly. `poison` is the byte that fills what nobody has written: a
// NaN for every floating-point type, a value that is no round number for integers.
template <class T>
struct TypeInfo;

namespace detail {
template <class T>
struct IntegerInfo {
  static constexpr bool kFloating = false;
  static constexpr double kEpsilon = 0, kDenormMin = 0,
                          kMax = static_cast<double>(std::numeric_limits<T>::max());
  static constexpr unsigned char kPoison = 0xa5;
};
template <int kFraction, int kLeastExponent, int kGreatestExponent>
struct FloatInfo {
  // 2^exponent without <cmath>, which is not constexpr
  static constexpr double power(int exponent) {
    double value = 1;
    for (int i = 0; i < exponent; ++i) value *= 2;
    for (int i = 0; i > exponent; --i) value /= 2;
    return value;
  }
  static constexpr bool kFloating = true;
  static constexpr double kEpsilon = power(-kFraction);
  static constexpr double kDenormMin = power(kLeastExponent - kFraction);
  static constexpr double kMax = power(kGreatestExponent) * (2 - power(-kFraction));
  static constexpr unsigned char kPoison = 0xff;
};
}  // namespace detail

template <>
struct TypeInfo<float> : detail::FloatInfo<23, -126, 127> {
  static constexpr const char* kName = "fp32";
};
template <>
struct TypeInfo<double> : detail::FloatInfo<52, -1022, 1023> {
  static constexpr const char* kName = "fp64";
};
template <>
struct TypeInfo<half> : detail::FloatInfo<10, -14, 15> {
  static constexpr const char* kName = "fp16";
};
template <>
struct TypeInfo<bf16> : detail::FloatInfo<7, -126, 127> {
  static constexpr const char* kName = "bf16";
};
template <>
struct TypeInfo<fp8_e4m3> : detail::FloatInfo<3, -6, 8> {
  static constexpr double kMax = 448;
  static constexpr const char* kName = "fp8_e4m3";
};
template <>
struct TypeInfo<fp8_e5m2> : detail::FloatInfo<2, -14, 15> {
  static constexpr const char* kName = "fp8_e5m2";
};
template <>
struct TypeInfo<uint4x2> : detail::IntegerInfo<uint8_t> {
  static constexpr double kMax = 15;
  static constexpr const char* kName = "uint4";
};
template <>
struct TypeInfo<int8_t> : detail::IntegerInfo<int8_t> {
  static constexpr const char* kName = "int8";
};
template <>
struct TypeInfo<uint8_t> : detail::IntegerInfo<uint8_t> {
  static constexpr const char* kName = "uint8";
};
template <>
struct TypeInfo<int16_t> : detail::IntegerInfo<int16_t> {
  static constexpr const char* kName = "int16";
};
template <>
struct TypeInfo<uint16_t> : detail::IntegerInfo<uint16_t> {
  static constexpr const char* kName = "uint16";
};
template <>
struct TypeInfo<int32_t> : detail::IntegerInfo<int32_t> {
  static constexpr const char* kName = "int32";
};
template <>
struct TypeInfo<uint32_t> : detail::IntegerInfo<uint32_t> {
  static constexpr const char* kName = "uint32";
};
template <>
struct TypeInfo<int64_t> : detail::IntegerInfo<int64_t> {
  static constexpr const char* kName = "int64";
};
template <>
struct TypeInfo<uint64_t> : detail::IntegerInfo<uint64_t> {
  static constexpr const char* kName = "uint64";
};

template <class T>
DAYS_HOST_DEVICE inline float to_float(T value) {
  if constexpr (std::is_same_v<T, half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return __bfloat162float(value);
  } else {
    return static_cast<float>(value);
  }
}

template <class T>
DAYS_HOST_DEVICE inline T from_float(float value) {
  if constexpr (std::is_same_v<T, half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return __float2bfloat16_rn(value);
  } else {
    return static_cast<T>(value);
  }
}

namespace detail {
// Floating-point types that are rounded to from float.
template <class T>
inline constexpr bool kNarrow =
    TypeInfo<T>::kFloating && !std::is_same_v<T, float> && !std::is_same_v<T, double>;
}  // namespace detail

// For comparing on the host: every type's values are doubles (64-bit integers beyond 2^53 are rounded).
template <class T>
inline double to_double(T value) {
  if constexpr (detail::kNarrow<T>) {
    return static_cast<double>(to_float(value));
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
inline T from_double(double value) {
  if constexpr (detail::kNarrow<T>) {
    // Rounding twice (double to float to half) goes wrong near the middle of two halves. Rounding to float
    // towards odd first keeps what tells which side of the middle the value is on.
    float narrow = static_cast<float>(value);
    if (std::isfinite(value) && std::isfinite(narrow) && static_cast<double>(narrow) != value) {
      uint32_t bits;
      static_assert(sizeof bits == sizeof narrow);
      __builtin_memcpy(&bits, &narrow, sizeof bits);
      if (bits % 2 == 0) bits += std::abs(value) > std::abs(static_cast<double>(narrow)) ? 1 : -1;
      __builtin_memcpy(&narrow, &bits, sizeof bits);
    }
    return from_float<T>(narrow);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace days
