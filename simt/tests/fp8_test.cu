// SPDX-License-Identifier: MIT
//
// Numbers of 8, 6 and 4 bits: each conversion against a search through all values of the format.

#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fp8_test {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A format by its definition; patterns from `first_special` on are no finite numbers.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  unsigned first_special;
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  unsigned sign() const { return 1u << (bits() - 1); }
  double size(unsigned pattern) const {
    const int exponent = static_cast<int>(pattern >> mantissa_bits);
    const unsigned fraction = pattern & ((1u << mantissa_bits) - 1),
                   one = exponent == 0 ? 0 : 1u << mantissa_bits;
    return std::ldexp(one + fraction, std::max(exponent, 1) - bias - mantissa_bits);
  }
};
constexpr Format kE4M3 = {4, 3, 7, 0x7f}, kE5M2 = {5, 2, 15, 0x7c}, kE2M3 = {2, 3, 1, 0x20},
                 kE3M2 = {3, 2, 3, 0x20}, kE2M1 = {2, 1, 1, 0x08};

// The pattern nearest to x, ties to the even one; `beyond` for what would round past the largest number.
unsigned nearest(const Format& format, double x, unsigned beyond) {
  const double size = std::fabs(x);
  unsigned best = 0;
  double distance = size;
  for (unsigned p = 1; p < format.first_special; ++p) {
    const double closer = std::fabs(format.size(p) - size);
    if (closer > distance || (closer == distance && p % 2 == 1)) continue;
    best = p;
    distance = closer;
  }
  const unsigned top = format.first_special - 1;
  const double step = format.size(top) - format.size(top - 1), half = format.size(top) + step / 2;
  if (size > half || (size == half && top % 2 == 1)) best = beyond;
  return best | (std::signbit(x) ? format.sign() : 0);
}

// Values of the format, midpoints between them, and what lies beside those and beyond the ends.
std::vector<double> hostile(const Format& format) {
  std::vector<double> all = {0.0, 1e-300, 1e300, kInf, std::numeric_limits<double>::denorm_min(), 1e5, 3e38};
  for (unsigned p = 0; p + 1 < format.first_special; ++p) {
    const double low = format.size(p), high = format.size(p + 1), middle = (low + high) / 2;
    for (const double x : {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, kInf), high}) {
      all.push_back(x);
    }
  }
  const double top = format.size(format.first_special - 1), before = format.size(format.first_special - 2);
  for (const double x : {top + (top - before) / 2, std::nextafter(top + (top - before) / 2, 0.0),
                         std::nextafter(top + (top - before) / 2, kInf), top * 1.5}) {
    all.push_back(x);
  }
  for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(-all[i]);
  return all;
}

TEST(Fp8, DoublesRoundToTheNearest) {
  for (const double x : hostile(kE4M3)) {
    ASSERT_EQ(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E4M3), nearest(kE4M3, x, 0x7e)) << x;
    ASSERT_EQ(__nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E4M3), nearest(kE4M3, x, 0x7f)) << x;
  }
  for (const double x : hostile(kE5M2)) {
    ASSERT_EQ(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E5M2), nearest(kE5M2, x, 0x7b)) << x;
    ASSERT_EQ(__nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E5M2), nearest(kE5M2, x, 0x7c)) << x;
  }
  EXPECT_EQ(__nv_cvt_double_to_fp8(kNaN, __NV_SATFINITE, __NV_E4M3), 0x7f);
  EXPECT_EQ(__nv_cvt_double_to_fp8(-kNaN, __NV_NOSAT, __NV_E4M3), 0xff);
  EXPECT_EQ(__nv_cvt_double_to_fp8(kNaN, __NV_SATFINITE, __NV_E5M2), 0x7e);  // a double's NaN keeps its bits,
  EXPECT_EQ(__nv_cvt_float_to_fp8(-std::nanf(""), __NV_SATFINITE, __NV_E5M2), 0x7f);  // a float's does not
}

TEST(Fp8, EveryHalfAndBfloat16RoundsOnce) {
  for (unsigned i = 0; i < 65536; ++i) {
    const __half_raw h = {static_cast<unsigned short>(i)};
    const __nv_bfloat16_raw b = {static_cast<unsigned short>(i)};
    const double x = static_cast<float>(__half(h)), y = static_cast<float>(__nv_bfloat16(b));
    if (!std::isnan(x)) {
      ASSERT_EQ(__nv_cvt_halfraw_to_fp8(h, __NV_NOSAT, __NV_E4M3), nearest(kE4M3, x, 0x7f)) << i;
      ASSERT_EQ(__nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2), nearest(kE5M2, x, 0x7b)) << i;
    }
    if (!std::isnan(y)) {
      ASSERT_EQ(__nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E4M3), nearest(kE4M3, y, 0x7e)) << i;
      ASSERT_EQ(__nv_cvt_bfloat16raw_to_fp8(b, __NV_NOSAT, __NV_E5M2), nearest(kE5M2, y, 0x7c)) << i;
    }
  }
}

TEST(Fp8, EveryPatternHasItsValue) {
  for (unsigned i = 0; i < 256; ++i) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = static_cast<unsigned char>(i);
    const unsigned size = i & 0x7f;
    const double sign = i & 0x80 ? -1.0 : 1.0;
    if (size < 0x7f) {
      ASSERT_EQ(static_cast<float>(a), sign * kE4M3.size(size));
      ASSERT_EQ(static_cast<float>(__half(a)), sign * kE4M3.size(size));
      ASSERT_EQ(__nv_fp8_e4m3(static_cast<float>(a)).__x, i);
    } else {
      ASSERT_TRUE(std::isnan(static_cast<float>(a)));
      ASSERT_EQ(__nv_cvt_fp8_to_halfraw(a.__x, __NV_E4M3).x, 0x7fff);
    }
    if (size < 0x7c) {
      ASSERT_EQ(static_cast<double>(b), sign * kE5M2.size(size));
      ASSERT_EQ(__nv_fp8_e5m2(static_cast<double>(b)).__x, i);
    } else if (size == 0x7c) {
      ASSERT_EQ(static_cast<float>(b), sign * kInf);
    } else {
      ASSERT_TRUE(std::isnan(static_cast<float>(b)));
    }
    ASSERT_EQ(static_cast<bool>(a), size != 0);
  }
}

TEST(Fp8, IntegersSaturate) {
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1000000)), 448.0f);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(-17)), -16.0f);  // between 16 and 18, to even
  EXPECT_EQ(static_cast<float>(__nv_fp8_e5m2(~0ull)), 57344.0f);
  EXPECT_EQ(static_cast<int>(__nv_fp8_e4m3(-2.75f)), -2);
  EXPECT_EQ(static_cast<signed char>(__nv_fp8_e4m3(300.0f)), 127);
  EXPECT_EQ(static_cast<unsigned char>(__nv_fp8_e5m2(-5.0f)), 0);
  EXPECT_EQ(static_cast<unsigned short>(__nv_fp8_e5m2(57344.0f)), 57344);
}

TEST(Fp8, PairsAndFours) {
  const __nv_fp8x2_e4m3 pair(make_float2(1.0f, -2.0f));
  EXPECT_EQ(pair.__x, 0xc038);
  EXPECT_EQ(static_cast<float2>(pair).y, -2.0f);
  EXPECT_EQ(__high2float(static_cast<__half2>(pair)), -2.0f);
  const __nv_fp8x4_e5m2 four(make_float4(1.0f, 2.0f, 3.0f, 1e9f));
  EXPECT_EQ(four.__x, 0x7b42403cu);
  EXPECT_EQ(static_cast<float4>(four).z, 3.0f);
  EXPECT_EQ(sizeof(four), 4u);
  EXPECT_EQ(__nv_fp8x4_e4m3(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4)).__x, 0x48444038u);
  EXPECT_EQ(__nv_cvt_float2_to_fp8x2(make_float2(1.0f, -2.0f), __NV_SATFINITE, __NV_E4M3), 0xc038);
  const __half2_raw halves = __nv_cvt_fp8x2_to_halfraw2(0xc038, __NV_E4M3);
  EXPECT_EQ(halves.x, 0x3c00);
  EXPECT_EQ(halves.y, 0xc000);
}

TEST(Fp8, PowersOfTwo) {
  for (unsigned i = 0; i < 255; ++i) {
    const double power = std::ldexp(1.0, static_cast<int>(i) - 127);
    __nv_fp8_e8m0 x;
    x.__x = static_cast<unsigned char>(i);
    ASSERT_EQ(static_cast<float>(x), power);
    for (const cudaRoundMode mode : {cudaRoundZero, cudaRoundPosInf}) {
      ASSERT_EQ(__nv_cvt_double_to_e8m0(-power, __NV_SATFINITE, mode), i);
      const unsigned up = mode == cudaRoundPosInf ? i + 1 : i;
      ASSERT_EQ(__nv_cvt_double_to_e8m0(power * 1.000001, __NV_NOSAT, mode), up) << i;
      ASSERT_EQ(__nv_cvt_double_to_e8m0(power * 1.999999, __NV_SATFINITE, mode), std::min(up, 254u)) << i;
    }
  }
  EXPECT_EQ(__nv_cvt_float_to_e8m0(0.0f, __NV_NOSAT, cudaRoundPosInf), 0);
  EXPECT_EQ(__nv_cvt_float_to_e8m0(static_cast<float>(kInf), __NV_SATFINITE, cudaRoundZero), 0xfe);
  EXPECT_EQ(__nv_cvt_float_to_e8m0(static_cast<float>(kInf), __NV_NOSAT, cudaRoundZero), 0xff);
  EXPECT_EQ(__nv_cvt_double_to_e8m0(1e300, __NV_NOSAT, cudaRoundZero), 0xfe);  // toward zero, so no overflow
  EXPECT_EQ(__nv_cvt_double_to_e8m0(1e300, __NV_NOSAT, cudaRoundPosInf), 0xff);
  EXPECT_EQ(__nv_cvt_float_to_e8m0(static_cast<float>(kNaN), __NV_SATFINITE, cudaRoundZero), 0xff);
  EXPECT_EQ(__nv_cvt_e8m0_to_bf16raw(0xff).x, 0x7fff);
  EXPECT_EQ(__nv_cvt_e8m0_to_bf16raw(0).x, 0x0040);
  EXPECT_EQ(__nv_fp8_e8m0(3).__x, 129);
  EXPECT_EQ(__nv_fp8_e8m0((1ull << 60) + 1).__x, 127 + 61);
}

TEST(Fp6AndFp4, RoundToTheNearestAndSaturate) {
  for (const double x : hostile(kE2M3)) {
    ASSERT_EQ(__nv_cvt_double_to_fp6(x, __NV_E2M3, cudaRoundNearest), nearest(kE2M3, x, 0x1f)) << x;
  }
  for (const double x : hostile(kE3M2)) {
    ASSERT_EQ(__nv_cvt_double_to_fp6(x, __NV_E3M2, cudaRoundNearest), nearest(kE3M2, x, 0x1f)) << x;
  }
  for (const double x : hostile(kE2M1)) {
    ASSERT_EQ(__nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest), nearest(kE2M1, x, 0x07)) << x;
  }
  for (unsigned i = 0; i < 8; ++i) {
    ASSERT_EQ(__nv_cvt_fp4_to_halfraw(static_cast<unsigned char>(i), __NV_E2M1).x,
              __half_as_ushort(__half(kE2M1.size(i))));
    const double almost = std::nextafter(kE2M1.size(i) + 0.5, 0.0);  // toward zero it is still i
    ASSERT_EQ(__nv_cvt_double_to_fp4(almost, __NV_E2M1, cudaRoundZero), i);
  }
  EXPECT_EQ(__nv_cvt_double_to_fp4(kNaN, __NV_E2M1, cudaRoundNearest), 0x07);
  EXPECT_EQ(__nv_cvt_double_to_fp6(-kNaN, __NV_E3M2, cudaRoundNearest), 0x1f);
  EXPECT_EQ(__nv_fp4x2_e2m1(make_float2(1.0f, -6.0f)).__x, 0xf2);
  EXPECT_EQ(__nv_fp4x4_e2m1(make_float4(1, 2, 3, 4)).__x, 0x6542);
  EXPECT_EQ(static_cast<float4>(__nv_fp4x4_e2m1(make_float4(1, 2, 3, 4))).w, 4.0f);
  EXPECT_EQ(__nv_fp6x2_e2m3(make_float2(1.0f, -1.0f)).__x, 0x2808);
  EXPECT_EQ(sizeof(__nv_fp6x4_e3m2), 4u);
}

__global__ void quantise_kernel(const float* in, __nv_fp8_e4m3* out, float* back) {
  const int i = threadIdx.x;
  out[i] = __nv_fp8_e4m3(in[i]);
  back[i] = float(out[i]);
}

TEST(Fp8, WorksInKernels) {
  float *in, *back;
  __nv_fp8_e4m3* out;
  ASSERT_EQ(cudaMallocManaged(&in, 64 * sizeof *in), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&back, 64 * sizeof *back), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&out, 64 * sizeof *out), cudaSuccess);
  for (int i = 0; i < 64; ++i) in[i] = 0.37f * static_cast<float>(i - 32);
  quantise_kernel<<<1, 64>>>(in, out, back);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i].__x, nearest(kE4M3, in[i], 0x7e)) << i;
  EXPECT_NEAR(back[0], in[0], 0.5f);
  for (void* p : {static_cast<void*>(in), static_cast<void*>(back), static_cast<void*>(out)}) {
    EXPECT_EQ(cudaFree(p), cudaSuccess);
  }
}

}  // namespace fp8_test
