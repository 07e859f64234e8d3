// SPDX-License-Identifier: MIT
// The norm of (1.1, 2.3) times 2^e in fp32, plain and scaled, for exponents over all of fp32. On the CPU: no GPU is needed.
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

float plain(float a, float b) {
  return std::sqrt(a * a + b * b);
}
float scaled(float a, float b) {
  const int e = std::clamp(std::ilogb(std::max(std::fabs(a), std::fabs(b))), -126, 126);
  return std::ldexp(plain(std::ldexp(a, -e), std::ldexp(b, -e)), e);
}

}  // namespace

int main() {
  std::printf("the norm of (1.1, 2.3) times 2^e in fp32, in units of 2^e\n");
  std::printf("%7s %10s %10s %12s\n", "e", "plain", "scaled", "the truth");
  bool as_told = true;
  for (const int e : {125, 100, 63, 62, 0, -62, -72, -74, -75, -76, -100, -125}) {
    const float a = std::ldexp(1.1f, e), b = std::ldexp(2.3f, e);
    const double of_plain = std::ldexp(static_cast<double>(plain(a, b)), -e);
    const double of_scaled = std::ldexp(static_cast<double>(scaled(a, b)), -e);
    const double truth = std::hypot(static_cast<double>(1.1f), static_cast<double>(2.3f));
    std::printf("%7d %10.6g %10.6g %12.6g\n", e, of_plain, of_scaled, truth);
    const auto right = [truth](double value) { return std::abs(value - truth) < 1e-6 * truth; };
    as_told = as_told && right(of_scaled) && (right(of_plain) || e < -62 || e > 62) &&
              !(right(of_plain) && (e < -74 || e > 62));
  }
  if (!as_told) {
    std::printf("error: fp32 does not round as it should; was this built with -ffast-math?\n");
    return 1;
  }
  std::printf("ok: a power of two rounds nothing\n");
  return 0;
}
