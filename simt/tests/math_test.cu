// SPDX-License-Identifier: MIT
//
// Mathematics and intrinsics: against their definitions in wider arithmetic, at the ends of every range.

#include <gtest/gtest.h>
#include <math_constants.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace math_test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int kIntMin = std::numeric_limits<int>::min(), kIntMax = std::numeric_limits<int>::max();
constexpr long long kLongMin = std::numeric_limits<long long>::min(),
                    kLongMax = std::numeric_limits<long long>::max();

// A small generator, so that a failure repeats.
class Random {
 public:
  unsigned int next() {
    return static_cast<unsigned int>((state_ = state_ * 6364136223846793005ull + 1442695040888963407ull) >>
                                     32);
  }
  float pattern() { return __uint_as_float(next()); }
  double wide_pattern() { return __longlong_as_double(static_cast<long long>(next()) << 32 | next()); }

 private:
  unsigned long long state_ = 1;
};

TEST(MinMax, AsOnTheDevice) {
  EXPECT_EQ(min(3, -4), -4);
  EXPECT_EQ(max(3, -4), 3);
  EXPECT_EQ(max(-1, 1u), 0xffffffffu);  // mixed signs compare as unsigned
  EXPECT_EQ(min(-1ll, 1ull), 1ull);
  EXPECT_EQ(min(kLongMin, kLongMax), kLongMin);
  EXPECT_EQ(max(kNaN, 1.0f), 1.0f);
  EXPECT_EQ(min(1.0, std::numeric_limits<double>::quiet_NaN()), 1.0);
  EXPECT_TRUE(std::isnan(min(kNaN, kNaN)));
  EXPECT_TRUE(std::signbit(min(0.0f, -0.0f)) && std::signbit(min(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(max(0.0, -0.0)) || std::signbit(max(-0.0, 0.0)));
  EXPECT_EQ(max(1.0f, 2.5), 2.5);
  static_assert(min(1, 2) == 1 && max(1u, 2) == 2u, "usable in constants");
}

TEST(Bits, CountsAndOrders) {
  EXPECT_EQ(__popc(0xf0f0f0f0u), 16);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(kIntMin), 32);
  EXPECT_EQ(__ffsll(kLongMin), 64);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brev(0x12345678u), 0x1e6a2c48u);
  EXPECT_EQ(__brevll(1ull), 1ull << 63);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7250u), 0x77225500u);
  EXPECT_EQ(__byte_perm(0x00008000u, 0u, 0x9999u), 0x80808080u);  // the fourth bit of a digit means nothing
  EXPECT_EQ(__funnelshift_l(0x89abcdefu, 0x01234567u, 8), 0x23456789u);
  EXPECT_EQ(__funnelshift_r(0x89abcdefu, 0x01234567u, 8), 0x6789abcdu);
  EXPECT_EQ(__funnelshift_l(1u, 2u, 32), 2u);   // modulo 32
  EXPECT_EQ(__funnelshift_lc(1u, 2u, 32), 1u);  // clamped
  EXPECT_EQ(__funnelshift_rc(1u, 2u, 99), 2u);
  EXPECT_EQ(__fns(0x00000110u, 0, 2), 8u);
  EXPECT_EQ(__fns(0x00000110u, 8, -2), 4u);
  EXPECT_EQ(__fns(0x00000110u, 5, 0), ~0u);
  EXPECT_EQ(__fns(0x00000110u, 9, 1), ~0u);
}

TEST(Bits, Reinterpretation) {
  EXPECT_EQ(__float_as_int(-0.0f), kIntMin);
  EXPECT_EQ(__int_as_float(0x3f800000), 1.0f);
  EXPECT_EQ(__double_as_longlong(1.0), 0x3ff0000000000000ll);
  EXPECT_EQ(__double2hiint(-2.0), static_cast<int>(0xc0000000));
  EXPECT_EQ(__hiloint2double(0x3ff00000, static_cast<int>(0x80000000)), 1.0 + 0x1p-21);
}

TEST(Integers, HighHalvesAndNarrowProducts) {
  EXPECT_EQ(__mulhi(kIntMin, kIntMin), 0x40000000);
  EXPECT_EQ(__umulhi(~0u, ~0u), 0xfffffffeu);
  EXPECT_EQ(__mul64hi(kLongMin, 2), -1);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__mul24(0x00800000, 1), -0x00800000);  // bit 23 is the sign
  EXPECT_EQ(__mul24(0x7f000003, 5), 15);
  EXPECT_EQ(__umul24(0xff000003u, 5u), 15u);
  EXPECT_EQ(__sad(kIntMax, kIntMin, 1), 0u);  // the difference is 2^32 - 1
  EXPECT_EQ(__usad(1u, 3u, 10u), 12u);
  EXPECT_EQ(__hadd(kIntMax, kIntMax), kIntMax);
  EXPECT_EQ(__hadd(-3, 0), -2);
  EXPECT_EQ(__rhadd(-3, 0), -1);
  EXPECT_EQ(__urhadd(~0u, ~0u), ~0u);
  EXPECT_EQ(__dp4a(static_cast<int>(0x80ff0102), 0x01010101, 10), 10 + 2 + 1 - 1 - 128);
  EXPECT_EQ(__dp4a(0x80ff0102u, 0x01010101u, 10u), 10u + 2 + 1 + 255 + 128);
  EXPECT_EQ(__dp2a_lo(static_cast<int>(0xffff0003), 0x00000502, 0), 3 * 2 - 5);
  EXPECT_EQ(__dp2a_hi(static_cast<int>(0xffff0003), 0x05020000, 0), 3 * 2 - 5);
}

TEST(Conversions, SaturateAndTreatNaN) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(3.5f), 4);
  EXPECT_EQ(__float2int_ru(-2.5f), -2);
  EXPECT_EQ(__float2int_rd(-2.5f), -3);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float2int_rn(kInf), kIntMax);
  EXPECT_EQ(__float2int_rn(-3e9f), kIntMin);
  EXPECT_EQ(__float2int_rn(kNaN), 0);
  EXPECT_EQ(__float2int_rz(2147483648.0f), kIntMax);
  EXPECT_EQ(__float2uint_rz(-0.9f), 0u);
  EXPECT_EQ(__float2uint_rz(-5.0f), 0u);
  EXPECT_EQ(__float2uint_rz(4294967296.0f), ~0u);
  EXPECT_EQ(__float2ll_rz(kNaN), kLongMin);
  EXPECT_EQ(__float2ll_rz(9.3e18f), kLongMax);
  EXPECT_EQ(__double2int_rz(CUDART_NAN), kIntMin);
  EXPECT_EQ(__double2ull_rn(1.8446744073709552e19), ~0ull);
  EXPECT_EQ(__double2ull_rn(-1.0), 0ull);
  EXPECT_EQ(__double2ll_rn(-9.2233720368547758e18), kLongMin);
}

TEST(Conversions, RoundIntegersAsAsked) {
  EXPECT_EQ(__int2float_rn(16777217), 16777216.0f);
  EXPECT_EQ(__int2float_ru(16777217), 16777218.0f);
  EXPECT_EQ(__int2float_rd(-16777217), -16777218.0f);
  EXPECT_EQ(__int2float_rz(-16777217), -16777216.0f);
  EXPECT_EQ(__uint2float_ru(~0u), 4294967296.0f);
  EXPECT_EQ(__uint2float_rz(~0u), 4294967040.0f);
  EXPECT_EQ(__ull2double_rz(~0ull), 18446744073709549568.0);
  EXPECT_EQ(__ll2float_rd(kLongMax), 9223371487098961920.0f);
  EXPECT_EQ(__double2float_ru(1.0 + 1e-15), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(__double2float_rz(-1.0 - 1e-15), -1.0f);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

// Each directed result brackets the exact one and is next to the nearest; the rounding mode is restored.
TEST(DirectedRounding, BracketsTheExactResult) {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    const float a = random.pattern(), b = random.pattern();
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double product = static_cast<double>(a) * b;  // exact
    ASSERT_LE(__fmul_rd(a, b), product);
    ASSERT_GE(__fmul_ru(a, b), product);
    ASSERT_LE(std::fabs(__fmul_rz(a, b)), std::fabs(product));
    if (__fmul_rd(a, b) != product) {
      ASSERT_EQ(std::nextafter(__fmul_rd(a, b), kInf), __fmul_ru(a, b));
      ASSERT_TRUE(__fmul_rn(a, b) == __fmul_rd(a, b) || __fmul_rn(a, b) == __fmul_ru(a, b));
    }
    ASSERT_LE(__fadd_rd(a, b), __fadd_ru(a, b));
    ASSERT_LE(__fdiv_rd(a, b == 0 ? 1 : b), __fdiv_ru(a, b == 0 ? 1 : b));
  }
  EXPECT_EQ(__fadd_rd(1.0f, 1e-30f), 1.0f);
  EXPECT_EQ(__fadd_ru(1.0f, 1e-30f), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(__fadd_rz(-1.0f, 1e-30f), std::nextafter(-1.0f, 0.0f));
  EXPECT_EQ(__dadd_ru(1.0, 1e-300), std::nextafter(1.0, 2.0));
  EXPECT_EQ(__dmul_rd(0.1, 10.0), 1.0);
  EXPECT_EQ(__dmul_ru(0.1, 10.0), std::nextafter(1.0, 2.0));
  EXPECT_EQ(__frcp_rz(3.0f), __fdiv_rd(1.0f, 3.0f));
  EXPECT_LT(__fsqrt_rd(2.0f), __fsqrt_ru(2.0f));
  EXPECT_EQ(__fsqrt_rd(4.0f), __fsqrt_ru(4.0f));
  EXPECT_EQ(__fmaf_rd(1.0f, 1.0f, 1e-30f), 1.0f);
  EXPECT_EQ(__fmaf_ru(1.0f, 1.0f, 1e-30f), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(__fma_rz(-1.0, 1.0, 1e-300), std::nextafter(-1.0, 0.0));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Fused, MultiplyAddKeepsTheProduct) {
  const float a = 1.0f + 0x1p-12f;
  EXPECT_EQ(__fmaf_rn(a, a, -1.0f - 0x1p-11f), 0x1p-24f);         // the product's last bit
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -1.0f - 0x1p-11f), 0.0f);  // never fused
}

// |got - exact| in units of the exact value's last float place.
double float_error(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0.0 : 1e9;
  if (std::isinf(exact) || got == static_cast<float>(exact))
    return got == static_cast<float>(exact) ? 0.0 : 1e9;
  const float rounded = static_cast<float>(exact);
  const double place = static_cast<double>(std::nextafter(std::fabs(rounded), kInf)) - std::fabs(rounded);
  return std::fabs(got - exact) / place;
}

TEST(Functions, RootsAndNorms) {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    const float x = std::fabs(random.pattern()), y = random.pattern(), z = random.pattern();
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) continue;
    ASSERT_LE(float_error(rsqrtf(x), 1.0 / std::sqrt(static_cast<double>(x))), 0.51) << x;
    ASSERT_LE(float_error(rcbrtf(y), 1.0 / std::cbrt(static_cast<double>(y))), 0.51) << y;
    const double norm =
        std::sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z);
    ASSERT_LE(float_error(norm3df(x, y, z), norm), 0.51);
    ASSERT_LE(float_error(rnorm3df(x, y, z), 1.0 / norm), 0.51);
  }
  EXPECT_EQ(rsqrt(0.0f), kInf);
  EXPECT_EQ(rsqrt(-0.0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(rsqrt(-1.0f)));
  EXPECT_EQ(norm3d(1e300, 1e300, 0.0), std::hypot(1e300, 1e300));
  EXPECT_EQ(norm4df(1.0f, 1.0f, 1.0f, 1.0f), 2.0f);
  const double p[3] = {2.0, 3.0, 6.0};
  EXPECT_EQ(norm(3, p), 7.0);
  const float q[2] = {3e38f, 1e38f};
  EXPECT_LT(rnormf(2, q), 1e-38f);
  EXPECT_EQ(rhypot(3.0f, 4.0f), 0.2f);
  EXPECT_NEAR(rhypot(1.5e308, 1.5e308) * 1e308, 0.4714045207910317, 1e-9);  // where the norm overflows
  EXPECT_EQ(rnorm3d(1.5e308, std::numeric_limits<double>::infinity(), 1.0), 0.0);
}

TEST(Functions, MultiplesOfPi) {
  EXPECT_EQ(sinpi(1.0), 0.0);
  EXPECT_EQ(sinpi(1e15), 0.0);
  EXPECT_TRUE(std::signbit(sinpi(-3.0)));
  EXPECT_EQ(cospi(0.5), 0.0);
  EXPECT_EQ(cospi(1e15 + 0.5), 0.0);
  EXPECT_EQ(cospi(3.0), -1.0);
  EXPECT_EQ(sinpif(-0.5f), -1.0f);
  EXPECT_TRUE(std::isnan(sinpi(kInf)));
  for (int i = -400; i <= 400; ++i) {
    const double x = i / 100.0;
    const double pi = 3.14159265358979323846;
    EXPECT_NEAR(sinpi(x), std::sin(pi * x), 1e-14) << x;
    EXPECT_NEAR(cospi(x), std::cos(pi * x), 1e-14) << x;
  }
  float sine, cosine;
  sincospif(0.25f, &sine, &cosine);
  EXPECT_EQ(sine, cosine);
  sincosf(1.0f, &sine, &cosine);
  EXPECT_EQ(sine, sinf(1.0f));
}

TEST(Functions, ErrorFunctionRelatives) {
  for (double y = -0.999; y < 1.0; y += 0.001) EXPECT_NEAR(std::erf(erfinv(y)), y, 4e-16) << y;
  for (double y = 1e-300; y < 2.0; y = y < 0.1 ? y * 10 : y + 0.01) {
    EXPECT_NEAR(std::erfc(erfcinv(y)) / y, 1.0, 3e-13) << y;  // the condition of erfc in its tail
  }
  EXPECT_EQ(erfinv(1.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(erfcinv(2.0f), -kInf);
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  EXPECT_TRUE(std::isnan(erfcinv(-0.5)));
  EXPECT_EQ(normcdf(0.0), 0.5);
  EXPECT_NEAR(normcdf(1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(normcdfinv(0.975), 1.959963984540054, 1e-14);
  EXPECT_GT(normcdf(-38.0), 0.0);  // no cancellation in the tail
  EXPECT_FALSE(std::signbit(normcdfinv(0.5)));
  EXPECT_NEAR(erfcinv(5e-324), 27.213293210812949, 1e-14);  // where erfc has one bit left
  EXPECT_NEAR(erfcinv(1e-295), 25.98907121227115, 1e-12);
  EXPECT_NEAR(erfcx(1.0), 0.427583576155807, 1e-15);
  EXPECT_NEAR(erfcx(24.999) / erfcx(25.001), 25.001 / 24.999, 1e-6);  // both formulas meet
  EXPECT_NEAR(erfcx(1e10) * 1e10, 0.5641895835477563, 1e-15);
  EXPECT_NEAR(cyl_bessel_i0(1.0), 1.2660658777520084, 1e-15);
  EXPECT_NEAR(cyl_bessel_i1(-1.0), -0.5651591039924851, 1e-15);
  EXPECT_NEAR(cyl_bessel_i0(100.0) / 1.0737517071310738e42, 1.0, 1e-14);
}

TEST(FastMath, AgreesWithTheExactFunctions) {
  for (const float x : {-80.0f, -1.0f, 0.0f, 1e-6f, 0.5f, 3.0f, 80.0f}) {
    EXPECT_LE(float_error(__expf(x), std::exp(static_cast<double>(x))), 1.0);
    EXPECT_LE(float_error(__sinf(x), std::sin(static_cast<double>(x))), 1.0);
    EXPECT_LE(float_error(__cosf(x), std::cos(static_cast<double>(x))), 1.0);
    EXPECT_LE(float_error(exp10f(x / 4), std::pow(10.0, static_cast<double>(x / 4))), 1.0);
  }
  EXPECT_EQ(__logf(0.0f), -kInf);
  EXPECT_EQ(__powf(2.0f, 10.0f), 1024.0f);
  EXPECT_TRUE(std::isnan(__powf(0.0f, 0.0f)) && std::isnan(__powf(-2.0f, 2.0f)));  // 2 to the y log2 x
  EXPECT_EQ(__fdividef(1.0f, 4.0f), 0.25f);
  EXPECT_EQ(__fdividef(1.0f, 0x1p127f), 0.0f);  // beyond 2^126, as documented
  EXPECT_TRUE(std::isnan(__fdividef(kInf, 0x1p127f)));
  EXPECT_EQ(__saturatef(kNaN), 0.0f);
  EXPECT_EQ(__saturatef(-0.5f), 0.0f);
  EXPECT_EQ(__saturatef(1.5f), 1.0f);
}

TEST(SimdInWord, EveryLaneByItself) {
  EXPECT_EQ(__vadd4(0xff010203u, 0x01010101u), 0x00020304u);
  EXPECT_EQ(__vaddss4(0x7f80017fu, 0x01ff0101u), 0x7f80027fu);
  EXPECT_EQ(__vaddus2(0xfffe0001u, 0x00020001u), 0xffff0002u);
  EXPECT_EQ(__vsub2(0x00000000u, 0x00010001u), 0xffffffffu);
  EXPECT_EQ(__vsubus4(0x01020304u, 0x02010503u), 0x00010001u);
  EXPECT_EQ(__vsubss2(0x80007fffu, 0x0001ffffu), 0x80007fffu);
  EXPECT_EQ(__vmaxs4(0x80017f00u, 0x7f02ff01u), 0x7f027f01u);
  EXPECT_EQ(__vmaxu4(0x80017f00u, 0x7f02ff01u), 0x8002ff01u);
  EXPECT_EQ(__vmins2(0x8000ffffu, 0x00010001u), 0x8000ffffu);
  EXPECT_EQ(__vabsdiffu4(0x00ff0510u, 0xff000a10u), 0xffff0500u);
  EXPECT_EQ(__vabsss2(0x8000fffeu), 0x7fff0002u);
  EXPECT_EQ(__vabs2(0x8000fffeu), 0x80000002u);
  EXPECT_EQ(__vneg4(0x01ff8000u), 0xff018000u);
  EXPECT_EQ(__vnegss4(0x01ff8000u), 0xff017f00u);
  EXPECT_EQ(__vavgu4(0x01020304u, 0x02020305u), 0x02020305u);
  EXPECT_EQ(__vhaddu4(0x01020304u, 0x02020305u), 0x01020304u);
  EXPECT_EQ(__vcmpeq4(0x01020304u, 0x01000300u), 0xff00ff00u);
  EXPECT_EQ(__vcmpgts2(0x8000ffffu, 0x0000fffeu), 0x0000ffffu);
  EXPECT_EQ(__vcmpgtu2(0x8000ffffu, 0x0000fffeu), 0xffffffffu);
  EXPECT_EQ(__vsetlts4(0x80000100u, 0x00000000u), 0x01000000u);
  EXPECT_EQ(__vsads4(0x80000001u, 0x7f000000u), 256u);
  EXPECT_EQ(__vsadu2(0xffff0001u, 0x00000003u), 65537u);
}

// Unqualified calls with every argument type that nvcc accepts pick the right overload inside a kernel.
__global__ void overloads(double* out) {
  const float f = 2.0f;
  const double d = 2.0;
  int i = 0;
  out[i++] = sizeof(sqrt(f)) == 4 && sizeof(sqrt(d)) == 8;
  out[i++] = sizeof(abs(-f)) == 4 && abs(-f) == 2.0f && abs(-3) == 3 && abs(-3ll) == 3;
  out[i++] = pow(f, 3) == 8.0 && pow(d, f) == 4.0 && sizeof(powf(f, f)) == 4;
  out[i++] = sizeof(exp10(f)) == 4 && exp10(2.0) == 100.0;
  out[i++] = isnan(kNaN) && !isinf(f) && isfinite(d) && signbit(-f);
  out[i++] = floor(-0.5f) == -1.0f && ceil(0.5f) == 1.0f && round(2.5f) == 3.0f && rint(2.5f) == 2.0f;
  out[i++] = fma(f, f, f) == 6.0f && fmaf(f, f, f) == 6.0f && fmodf(7.0f, 4.0f) == 3.0f;
  out[i++] = copysignf(f, -1.0f) == -2.0f && ldexpf(f, 3) == 16.0f && ilogb(8.0f) == 3 && logb(8.0) == 3.0;
  out[i++] = fabsf(tgammaf(5.0f) - 24.0f) < 1e-4f && fabs(lgamma(3.0) - log(2.0)) < 1e-12;
  out[i++] = j0f(0.0f) == 1.0f && j1(0.0) == 0.0 && isinf(y0(0.0));
  out[i++] = lrintf(2.5f) == 2 && llround(2.5) == 3 && nextafterf(1.0f, 2.0f) > 1.0f && fdim(3.0, 1.0) == 2.0;
  out[i++] = hypotf(3.0f, 4.0f) == 5.0f && cbrtf(27.0f) == 3.0f && expm1f(0.0f) == 0.0f && log1p(0.0) == 0.0;
}

TEST(Overloads, InKernels) {
  double* out;
  constexpr int kCount = 12;
  ASSERT_EQ(cudaMallocManaged(&out, kCount * sizeof(double)), cudaSuccess);
  overloads<<<1, 1>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(out[i], 1.0) << "line " << i;
  ASSERT_EQ(cudaFree(out), cudaSuccess);
}

}  // namespace math_test
