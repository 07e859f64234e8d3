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

// All 8-bit floats: they are looked up, as they take longest to make.
const double* small_floats(int exponent_bits) {
  struct Table {
    double values[256];
    explicit Table(int bits) {
      for (unsigned i = 0; i < 256; ++i) values[i] = small_float(i, bits);
    }
  };
  static const Table e4m3(4), e5m2(5);
  return (exponent_bits == 4 ? e4m3 : e5m2).values;
}

}  // namespace

void elements_of(MatrixType type, const char* from, int count, double* to) {
  const auto each = [&](auto get) {
    for (int i = 0; i < count; ++i) to[i] = get(i);
  };
  switch (type) {
    case MatrixType::f16:
      return each([&](int i) { return HalfFormat::to_float(element<unsigned short>(from, i)); });
    case MatrixType::bf16:
      return each([&](int i) { return Bfloat16Format::to_float(element<unsigned short>(from, i)); });
    case MatrixType::tf32:
      return each([&](int i) { return float_of_bits(element<std::uint32_t>(from, i) & ~0x1fffu); });
    default:
      const double* values = small_floats(type == MatrixType::e4m3 ? 4 : 5);
      return each([&](int i) { return values[element<unsigned char>(from, i)]; });
  }
}
void elements_of(MatrixType, const char* from, int count, std::int32_t* to) {
  for (int i = 0; i < count; ++i) to[i] = element<signed char>(from, i);
}

void gather_floats(MatrixType type, const void* const (&fragments)[32], int count, const int* places,
                   double* matrix) {
  const auto each = [&](auto get) {
    for (const void* fragment : fragments) {
      for (int i = 0; i < count; ++i) matrix[*places++] = get(fragment, i);
    }
  };
  switch (type) {
    case MatrixType::f16:
      return each([](auto f, int i) { return HalfFormat::to_float(element<unsigned short>(f, i)); });
    case MatrixType::bf16:
      return each([](auto f, int i) { return Bfloat16Format::to_float(element<unsigned short>(f, i)); });
    case MatrixType::tf32:  // the hardware looks at the upper 19 bits
      return each([](auto f, int i) { return float_of_bits(element<std::uint32_t>(f, i) & ~0x1fffu); });
    case MatrixType::f32:
      return each([](auto f, int i) { return element<float>(f, i); });
    case MatrixType::f64:
      return each([](auto f, int i) { return element<double>(f, i); });
    case MatrixType::e4m3:
      return each([](auto f, int i) { return small_float(element<unsigned char>(f, i), 4); });
    case MatrixType::e5m2:
      return each([](auto f, int i) { return small_float(element<unsigned char>(f, i), 5); });
    default:
      return each([&](auto f, int i) { return static_cast<double>(integer_element(type, f, i)); });
  }
}

void scatter_floats(MatrixType type, const double* matrix, const int* places, int count,
                    void* const (&fragments)[32]) {
  const auto each = [&](auto of) {
    for (void* fragment : fragments) {
      for (int i = 0; i < count; ++i) {
        const auto value = of(matrix[*places++]);
        std::memcpy(static_cast<char*>(fragment) + static_cast<std::size_t>(i) * sizeof value, &value,
                    sizeof value);
      }
    }
  };
  switch (type) {
    case MatrixType::f16:
      return each([](double x) { return from_double<HalfFormat>(x); });
    case MatrixType::f32:
      return each([](double x) { return x != x ? float_of_bits(0x7fffffffu) : static_cast<float>(x); });
    default:
      return each([](double x) { return x; });
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

}  // namespace simt
