// SPDX-License-Identifier: MIT
//
// The special functions that CUDA has and the C library lacks, in double.

#include <cmath>
#include <limits>

namespace simt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwoOverRootPi = 1.128379167095512573896158903121545172;
constexpr double kRootTwo = 1.414213562373095048801688724209698079;

// One step of Halley's method on erfc(x) = y; it triples the number of correct digits.
double refine_erfc_inverse(double x, double y) {
  const double error = std::erfc(x) - y;
  const double slope = -kTwoOverRootPi * std::exp(-x * x);
  if (slope == 0.0) return x;
  const double step = error / slope;
  return x - step / (1.0 + x * step);
}

}  // namespace

double erfc_scaled(double x) noexcept {
  if (x < 25.0) return std::exp(x * x) * std::erfc(x);
  if (x == kInfinity) return 0.0;
  // Asymptotic series: 1 / (x sqrt(pi)) * (1 - 1/(2x^2) + 3/(4x^4) - 15/(8x^6) ...); at 25 the fifth term is
  // below 1e-13 of the first and shrinking.
  const double t = 1.0 / (2.0 * x * x);
  const double series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t))));
  return kTwoOverRootPi / 2.0 / x * series;
}

double erfc_inverse(double y) noexcept {
  if (!(y >= 0.0 && y <= 2.0)) return kNaN;
  if (y == 0.0) return kInfinity;
  if (y == 2.0) return -kInfinity;
  if (y == 1.0) return 0.0;
  // Symmetry keeps the argument in (0, 1], where erfc is exact to the last bits. The start is good to a few
  // percent everywhere (Winitzki, "A handy approximation for the error function and its inverse", 2008).
  const bool upper = y > 1.0;
  const double tail = upper ? 2.0 - y : y;
  const double a = 0.147;
  const double logarithm = std::log(tail * (2.0 - tail));
  const double half = 2.0 / (3.141592653589793 * a) + logarithm / 2.0;
  double x = std::sqrt(std::sqrt(half * half - logarithm / a) - half);
  if (tail < 1e-290) {
    // erfc itself has lost its digits here: solve for the logarithm, log(erfcx(x)) - x^2 = log(tail).
    for (int i = 0; i < 6; ++i) {
      const double scaled = erfc_scaled(x);
      const double slope = 2.0 * x - kTwoOverRootPi / scaled;  // of log(erfcx(x))
      x -= (std::log(scaled) - x * x - std::log(tail)) / (slope - 2.0 * x);
    }
    return upper ? -x : x;
  }
  for (int i = 0; i < 4; ++i) x = refine_erfc_inverse(x, tail);
  return upper ? -x : x;
}

double erf_inverse(double y) noexcept {
  if (!(y >= -1.0 && y <= 1.0)) return kNaN;
  if (y == 0.0) return y;
  if (std::fabs(y) > 0.5) return std::copysign(erfc_inverse(1.0 - std::fabs(y)), y);
  // Near 0 the complement would lose the argument's digits, so solve erf(x) = y itself.
  double x = y / kTwoOverRootPi;
  for (int i = 0; i < 4; ++i) {
    const double step = (std::erf(x) - y) / (kTwoOverRootPi * std::exp(-x * x));
    x -= step / (1.0 + x * step);
  }
  return x;
}

double normal_cdf_inverse(double p) noexcept {
  return p == 0.5 ? 0.0 : -kRootTwo * erfc_inverse(2.0 * p);
}

namespace {

// The power series of I_n: all terms are positive, so nothing cancels; about 2x terms.
double bessel_series(int order, double x) {
  const double half = x / 2.0;
  double term = order == 0 ? 1.0 : half;
  double sum = term;
  for (int k = 1; k < 4000 && term > sum * 1e-17; ++k) {
    term *= half / k * (half / (k + order));
    sum += term;
  }
  return sum;
}

}  // namespace

double bessel_i0(double x) noexcept {
  const double a = std::fabs(x);
  if (a > 713.98) return std::isnan(x) ? x : kInfinity;
  return bessel_series(0, a);
}

double bessel_i1(double x) noexcept {
  const double a = std::fabs(x);
  if (std::isnan(x)) return x;
  if (a > 713.98) return std::copysign(kInfinity, x);
  return std::copysign(bessel_series(1, a), x);
}

}  // namespace simt
