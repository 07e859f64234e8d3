// SPDX-License-Identifier: MIT
#include "matrix_elements.h"

#include <cmath>

#include "simt/float16_bits.h"

namespace simt {
namespace {

template <class T>
T element(const void* fragment, int i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(fragment) + static_cast<std::size_t>(i) * sizeof(T),
              sizeof value);
  return value;
}

// 8-bit floats: `exponent_bits` of exponent. e5m2 has infinities, e4m3 only NaN, all ones.
double small_float(unsigned bits, int exponent_bits) {
  const int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const unsigned exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  if (exponent_bits == 5 && exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent_bits == 4 && (bits & 0x7f) == 0x7f) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign *
         std::ldexp(mantissa + (1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
}

}  // namespace

void float_elements(MatrixType type, const void* fragment, int count, double* to) {
  const auto each = [&](auto get) {
    for (int i = 0; i < count; ++i) to[i] = get(i);
  };
  switch (type) {
    case MatrixType::f16:
      return each([&](int i) { return HalfFormat::to_float(element<unsigned short>(fragment, i)); });
    case MatrixType::bf16:
      return each([&](int i) { return Bfloat16Format::to_float(element<unsigned short>(fragment, i)); });
    case MatrixType::tf32:  // the hardware looks at the upper 19 bits
      return each([&](int i) { return float_of_bits(element<std::uint32_t>(fragment, i) & ~0x1fffu); });
    case MatrixType::f32:
      return each([&](int i) { return element<float>(fragment, i); });
    case MatrixType::f64:
      return each([&](int i) { return element<double>(fragment, i); });
    case MatrixType::e4m3:
      return each([&](int i) { return small_float(element<unsigned char>(fragment, i), 4); });
    case MatrixType::e5m2:
      return each([&](int i) { return small_float(element<unsigned char>(fragment, i), 5); });
    default:
      return each([&](int i) { return static_cast<double>(integer_element(type, fragment, i)); });
  }
}

long long integer_element(MatrixType type, const void* fragment, int i) {
  switch (type) {
    case MatrixType::s8:
      return element<signed char>(fragment, i);
    case MatrixType::u8:
      return element<unsigned char>(fragment, i);
    case MatrixType::s4:
    case MatrixType::u4: {
      const int nibble = element<unsigned char>(fragment, i / 2) >> i % 2 * 4 & 15;
      return type == MatrixType::s4 && nibble > 7 ? nibble - 16 : nibble;
    }
    case MatrixType::b1:
      return element<unsigned char>(fragment, i / 8) >> i % 8 & 1;
    default:
      return element<std::int32_t>(fragment, i);
  }
}

void set_float_element(MatrixType type, void* fragment, int i, double value) {
  char* bytes = static_cast<char*>(fragment);
  if (type == MatrixType::f16) {
    const unsigned short bits = from_double<HalfFormat>(value);
    std::memcpy(bytes + i * 2, &bits, 2);
  } else if (type == MatrixType::f32) {
    const float rounded = value != value ? float_of_bits(0x7fffffffu) : static_cast<float>(value);
    std::memcpy(bytes + i * 4, &rounded, 4);
  } else {
    std::memcpy(bytes + i * 8, &value, 8);
  }
}

}  // namespace simt
