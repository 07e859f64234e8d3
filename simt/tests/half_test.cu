// SPDX-License-Identifier: MIT
//
// Half precision and bfloat16: conversions over every pattern, arithmetic against exact results, comparisons
// with NaN.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace half_test {

// The two formats through one interface, by pattern.
struct Fp16 {
  using Type = __half;
  static constexpr int kMantissa = 10, kLeastExponent = -24;  // 2^-24 is the smallest number
  static constexpr double kMost = 65504.0, kOverflow = 65520.0;
  static Type of(unsigned short bits) { return __ushort_as_half(bits); }
  static unsigned short bits(Type x) { return __half_as_ushort(x); }
  static float value(Type x) { return __half2float(x); }
  static Type nearest(float x) { return __float2half_rn(x); }
  static Type down(float x) { return __float2half_rd(x); }
  static Type up(float x) { return __float2half_ru(x); }
  static Type to_zero(float x) { return __float2half_rz(x); }
  static Type from(double x) { return __double2half(x); }
  static Type from(long long x) { return __ll2half_rn(x); }
};
struct Bf16 {
  using Type = __nv_bfloat16;
  static constexpr int kMantissa = 7, kLeastExponent = -133;
  static constexpr double kMost = 0x1.fep127, kOverflow = 0x1.ffp127;
  static Type of(unsigned short bits) { return __ushort_as_bfloat16(bits); }
  static unsigned short bits(Type x) { return __bfloat16_as_ushort(x); }
  static float value(Type x) { return __bfloat162float(x); }
  static Type nearest(float x) { return __float2bfloat16_rn(x); }
  static Type down(float x) { return __float2bfloat16_rd(x); }
  static Type up(float x) { return __float2bfloat16_ru(x); }
  static Type to_zero(float x) { return __float2bfloat16_rz(x); }
  static Type from(double x) { return __double2bfloat16(x); }
  static Type from(long long x) { return __ll2bfloat16_rn(x); }
};

// The value of a pattern by the formats' definition: sign, exponent, mantissa.
template <class F>
double defined_value(unsigned short bits) {
  const int exponent_bits = 15 - F::kMantissa;
  const int exponent = bits >> F::kMantissa & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << F::kMantissa) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, F::kLeastExponent);
  return sign * std::ldexp(mantissa + (1 << F::kMantissa), F::kLeastExponent + exponent - 1);
}

template <class F>
class HalfTest : public testing::Test {};
using Formats = testing::Types<Fp16, Bf16>;
TYPED_TEST_SUITE(HalfTest, Formats);

TYPED_TEST(HalfTest, EveryPatternHasItsDefinedValue) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<unsigned short>(i);
    const double expected = defined_value<TypeParam>(bits);
    const float got = TypeParam::value(TypeParam::of(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(got, expected) << i;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << i;
    }
  }
}

TYPED_TEST(HalfTest, EveryPatternSurvivesARoundTrip) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<unsigned short>(i);
    const float value = TypeParam::value(TypeParam::of(bits));
    const unsigned short expected = std::isnan(value) ? 0x7fff : bits;  // the GPU's one NaN
    ASSERT_EQ(TypeParam::bits(TypeParam::nearest(value)), expected) << i;
    ASSERT_EQ(TypeParam::bits(TypeParam::from(static_cast<double>(value))), expected) << i;
    ASSERT_EQ(TypeParam::bits(TypeParam::down(value)), expected) << i;
    ASSERT_EQ(TypeParam::bits(TypeParam::up(value)), expected) << i;
    ASSERT_EQ(TypeParam::bits(TypeParam::to_zero(value)), expected) << i;
  }
}

// Between each two neighbours: the midpoint goes to the even one, its two float neighbours to the nearer.
TYPED_TEST(HalfTest, RoundsToNearestEvenBetweenAllNeighbours) {
  for (int i = 0; i < 0x7fff; ++i) {
    const auto low = static_cast<unsigned short>(i), high = static_cast<unsigned short>(i + 1);
    const double below = defined_value<TypeParam>(low);
    double above = defined_value<TypeParam>(high);
    if (std::isnan(below) || std::isnan(above) || std::isinf(below)) continue;
    if (std::isinf(above)) above = 2.0 * TypeParam::kOverflow - TypeParam::kMost;
    const double middle = (below + above) / 2.0;
    const auto nearest = [](double x) { return TypeParam::bits(TypeParam::from(x)); };
    ASSERT_EQ(nearest(middle), i % 2 == 0 ? low : high) << i;
    ASSERT_EQ(nearest(std::nextafter(middle, 0.0)), low) << i;
    ASSERT_EQ(nearest(std::nextafter(middle, 1e300)), high) << i;
    ASSERT_EQ(nearest(-middle), 0x8000 | (i % 2 == 0 ? low : high)) << i;
    const float single = static_cast<float>(middle);
    if (single == middle) {
      ASSERT_EQ(TypeParam::bits(TypeParam::nearest(single)), i % 2 == 0 ? low : high) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::nearest(std::nextafter(single, 0.0f))), low) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::down(single)), low) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::up(single)), high) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::to_zero(single)), low) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::down(-single)), 0x8000 | high) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::up(-single)), 0x8000 | low) << i;
      ASSERT_EQ(TypeParam::bits(TypeParam::to_zero(-single)), 0x8000 | low) << i;
    }
  }
}

TYPED_TEST(HalfTest, IntegersRoundOnce) {
  // 2^62 + 2^(62 - mantissa - 1) is a tie; one more is not, although a double would lose it.
  const long long tie = (1ll << 62) + (1ll << (61 - TypeParam::kMantissa));
  if (sizeof(typename TypeParam::Type) == 2 && TypeParam::kMantissa == 7) {
    EXPECT_EQ(TypeParam::value(TypeParam::from(tie)), std::ldexp(1.0f, 62));
    EXPECT_EQ(TypeParam::value(TypeParam::from(tie + 1)), std::ldexp(1.0f + 1.0f / 128.0f, 62));
    EXPECT_EQ(TypeParam::value(TypeParam::from(-tie - 1)), -std::ldexp(1.0f + 1.0f / 128.0f, 62));
  } else {
    EXPECT_TRUE(std::isinf(TypeParam::value(TypeParam::from(tie))));
    EXPECT_EQ(TypeParam::value(TypeParam::from(2049ll)), 2048.0f);
    EXPECT_EQ(TypeParam::value(TypeParam::from(2051ll)), 2052.0f);
  }
}

// Each operation against the exact result, rounded once, on a grid of patterns that holds every kind of
// number.
TYPED_TEST(HalfTest, ArithmeticRoundsOnce) {
  using T = typename TypeParam::Type;
  std::vector<unsigned short> patterns = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,
                                          0x7bff, 0x7c00, 0xfc00, 0x7f80, 0x3c00, 0x3f80};
  for (int i = 5; i < 65536; i += 977) patterns.push_back(static_cast<unsigned short>(i));
  for (const unsigned short p : patterns) {
    for (const unsigned short q : patterns) {
      const T a = TypeParam::of(p), b = TypeParam::of(q);
      const double x = TypeParam::value(a), y = TypeParam::value(b);
      const auto same = [&](T got, double exact) {
        const unsigned short expected = TypeParam::bits(TypeParam::from(exact));
        return TypeParam::bits(got) == expected || (std::isnan(exact) && __hisnan(got));
      };
      ASSERT_TRUE(same(a * b, x * y)) << p << " * " << q;  // exact in double
      // Sums and quotients are not always exact in double, but far closer than a tie can be.
      ASSERT_TRUE(same(a + b, x + y)) << p << " + " << q;
      ASSERT_TRUE(same(a - b, x - y)) << p << " - " << q;
      ASSERT_TRUE(same(a / b, x / y)) << p << " / " << q;
    }
  }
}

TEST(Half, FusedMultiplyAddRoundsOnce) {
  // 33 * 65 = 2145 lies between 2144 and 2146; adding 2^-24 breaks the tie, and float would lose it twice
  // over.
  const __half a = __float2half(33.0f), b = __float2half(65.0f);
  EXPECT_EQ(__half2float(__hfma(a, b, __float2half(0.0f))), 2144.0f);
  EXPECT_EQ(__half2float(__hfma(a, b, __ushort_as_half(0x0001))), 2146.0f);
  EXPECT_EQ(__half2float(__hfma(a, b, __ushort_as_half(0x8001))), 2144.0f);
  // Twice through half: the product would have rounded to 2144 first.
  EXPECT_EQ(__half2float(__hadd(__hmul(a, b), __float2half(1.0f))), 2144.0f);
  EXPECT_EQ(__half2float(__hfma(a, b, __float2half(1.0f))), 2146.0f);
  EXPECT_TRUE(__hisnan(__hfma(CUDART_INF_FP16, CUDART_ZERO_FP16, a)));
  EXPECT_EQ(__hisinf(__hfma(CUDART_MAX_NORMAL_FP16, __float2half(-2.0f), a)), -1);
}

TEST(Half, FusedMultiplyAddOfBfloat16RoundsOnce) {
  const __nv_bfloat16 a = __float2bfloat16(1.0f + 1.0f / 128), b = __float2bfloat16(1.0f + 1.0f / 128);
  // 1 + 2/128 + 1/16384 rounds to 1 + 2/128; an addend of 2^-100 changes nothing, of 127/16384 makes a tie
  // and more.
  EXPECT_EQ(__bfloat162float(__hfma(a, b, __float2bfloat16(0x1p-100f))), 1.0f + 2.0f / 128);
  EXPECT_EQ(__bfloat162float(__hfma(a, b, __float2bfloat16(63.0f / 16384))), 1.0f + 2.0f / 128);
  EXPECT_EQ(__bfloat162float(__hfma(a, b, __float2bfloat16(64.0f / 16384))), 1.0f + 3.0f / 128);
}

TYPED_TEST(HalfTest, ComparisonsWithNaN) {
  using T = typename TypeParam::Type;
  const T nan = TypeParam::of(0x7fff), one = TypeParam::nearest(1.0f), two = TypeParam::nearest(2.0f);
  const T minus_zero = TypeParam::of(0x8000), zero = TypeParam::of(0);
  EXPECT_TRUE(__hlt(one, two) && __hle(one, one) && __hgt(two, one) && __hge(two, two) && __heq(one, one) &&
              __hne(one, two));
  EXPECT_FALSE(__hlt(two, one) || __hle(two, one) || __hgt(one, two) || __hge(one, two) || __heq(one, two) ||
               __hne(one, one));
  EXPECT_FALSE(__hlt(nan, one) || __hle(one, nan) || __hgt(nan, nan) || __hge(nan, one) || __heq(nan, nan) ||
               __hne(nan, one));
  EXPECT_TRUE(__hltu(nan, one) && __hleu(one, nan) && __hgtu(nan, nan) && __hgeu(nan, one) &&
              __hequ(nan, nan) && __hneu(nan, one));
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(nan == nan || nan < one || nan > one || nan <= nan || nan >= nan);
  EXPECT_TRUE(zero == minus_zero);
  EXPECT_EQ(TypeParam::bits(__hmin(zero, minus_zero)), 0x8000);
  EXPECT_EQ(TypeParam::bits(__hmax(minus_zero, zero)), 0);
  EXPECT_EQ(TypeParam::value(__hmax(nan, one)), 1.0f);
  EXPECT_EQ(TypeParam::value(__hmin(one, nan)), 1.0f);
  EXPECT_TRUE(__hisnan(__hmax(nan, nan)) && __hisnan(__hmax_nan(nan, one)) && __hisnan(__hmin_nan(one, nan)));
  EXPECT_EQ(TypeParam::value(__hmax_nan(one, two)), 2.0f);
}

TYPED_TEST(HalfTest, SaturationAndSigns) {
  using T = typename TypeParam::Type;
  const T two = TypeParam::nearest(2.0f), minus = TypeParam::nearest(-3.0f), nan = TypeParam::of(0x7fff);
  EXPECT_EQ(TypeParam::value(__hadd_sat(two, two)), 1.0f);
  EXPECT_EQ(TypeParam::value(__hadd_sat(two, minus)), 0.0f);
  EXPECT_EQ(TypeParam::bits(__hmul_sat(two, nan)), 0);
  EXPECT_EQ(TypeParam::value(__hfma_relu(two, minus, two)), 0.0f);
  EXPECT_TRUE(__hisnan(__hfma_relu(two, nan, two)));
  EXPECT_EQ(TypeParam::bits(__hfma_relu(TypeParam::of(0x8000), two, TypeParam::of(0x8000))), 0);  // not -0
  EXPECT_EQ(TypeParam::bits(__hneg(TypeParam::of(0xffc1))), 0x7fff);
  EXPECT_EQ(TypeParam::bits(__habs(TypeParam::of(0xffc1))), 0x7fff);
  EXPECT_EQ(TypeParam::value(__habs(minus)), 3.0f);
  EXPECT_EQ(TypeParam::value(-minus), 3.0f);
  T counter = two;
  counter += two;
  counter *= minus;
  --counter;
  EXPECT_EQ(TypeParam::value(counter), -13.0f);
}

TYPED_TEST(HalfTest, IntegersSaturate) {
  using T = typename TypeParam::Type;
  EXPECT_EQ(static_cast<int>(TypeParam::nearest(-2.75f)), -2);
  EXPECT_EQ(static_cast<signed char>(TypeParam::nearest(300.0f)), 127);
  EXPECT_EQ(static_cast<unsigned char>(TypeParam::nearest(-1.0f)), 0);
  EXPECT_EQ(static_cast<short>(TypeParam::nearest(-60000.0f)), -32768);
  const T nan = TypeParam::of(0x7fff);
  EXPECT_EQ(static_cast<int>(nan), 0);
  EXPECT_FALSE(static_cast<bool>(TypeParam::of(0x8000)));
  EXPECT_TRUE(static_cast<bool>(TypeParam::of(0x0001)));
}

TEST(Half, ConversionsWithModes) {
  const __half x = __float2half(2.5f), y = __float2half(-2.5f);
  EXPECT_EQ(__half2int_rn(x), 2);
  EXPECT_EQ(__half2int_ru(x), 3);
  EXPECT_EQ(__half2int_rd(y), -3);
  EXPECT_EQ(__half2int_rz(y), -2);
  EXPECT_EQ(__half2ushort_rn(y), 0);
  EXPECT_EQ(__half2ull_ru(CUDART_INF_FP16), ~0ull);
  EXPECT_EQ(__half2float(__int2half_rd(2049)), 2048.0f);
  EXPECT_EQ(__half2float(__int2half_ru(2049)), 2050.0f);
  EXPECT_EQ(__half2float(__int2half_rz(-2049)), -2048.0f);
  EXPECT_EQ(__half2float(__int2half_rn(70000)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(__half2float(__int2half_rz(70000)), 65504.0f);
}

TEST(Half2, PairsKeepTheirHalves) {
  const __half2 a = __floats2half2_rn(1.0f, 2.0f), b = __floats2half2_rn(3.0f, -4.0f);
  EXPECT_EQ(__low2float(__hadd2(a, b)), 4.0f);
  EXPECT_EQ(__high2float(__hadd2(a, b)), -2.0f);
  EXPECT_EQ(__high2float(__hfma2(a, b, a)), -6.0f);
  EXPECT_EQ(__low2float(__lowhigh2highlow(a)), 2.0f);
  EXPECT_EQ(__high2float(__lows2half2(a, b)), 3.0f);
  EXPECT_EQ(__low2float(__highs2half2(a, b)), 2.0f);
  EXPECT_EQ(__low2float(__heq2(a, a)), 1.0f);
  EXPECT_EQ(__hgt2_mask(a, b), 0xffff0000u);
  EXPECT_FALSE(__hbgt2(a, b));
  EXPECT_TRUE(__hbneu2(a, b));
  const float2 f = __half22float2(b);
  EXPECT_EQ(f.x, 3.0f);
  EXPECT_EQ(f.y, -4.0f);
  // (1 + 2i)(3 - 4i) + (1 + 2i)
  const __half2 c = __hcmadd(a, b, a);
  EXPECT_EQ(__low2float(c), 12.0f);
  EXPECT_EQ(__high2float(c), 4.0f);
}

__global__ void half_kernel(const __half* in, __half* doubled, __half2* pairs, float* sums) {
  const int i = threadIdx.x;
  doubled[i] = in[i] + in[i];
  pairs[i] = __half2half2(in[i]);
  // Halves travel through shuffles as they are.
  sums[i] = __half2float(in[i]) + __half2float(__shfl_xor_sync(0xffffffffu, in[i], 1));
}

TEST(Half, WorksInKernels) {
  __half* in;
  __half* doubled;
  __half2* pairs;
  float* sums;
  ASSERT_EQ(cudaMallocManaged(&in, 32 * sizeof(__half)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&doubled, 32 * sizeof(__half)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&pairs, 32 * sizeof(__half2)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&sums, 32 * sizeof(float)), cudaSuccess);
  for (int i = 0; i < 32; ++i) in[i] = __float2half(0.5f * i);
  half_kernel<<<1, 32>>>(in, doubled, pairs, sums);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(__half2float(doubled[i]), static_cast<float>(i));
    EXPECT_EQ(__high2float(pairs[i]), 0.5f * i);
    EXPECT_EQ(sums[i], 0.5f * i + 0.5f * (i ^ 1));
  }
  for (void* p : {static_cast<void*>(in), static_cast<void*>(doubled), static_cast<void*>(pairs),
                  static_cast<void*>(sums)}) {
    EXPECT_EQ(cudaFree(p), cudaSuccess);
  }
}

}  // namespace half_test
