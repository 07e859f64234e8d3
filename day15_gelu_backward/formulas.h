// SPDX-License-Identifier: MIT
// GELU and its slope in double: what the references, the tests and programs/differences.cu take for the truth.
#pragma once

#include <cmath>

namespace day15 {

// (1 + erf(z)) / 2 is erfc(-z) / 2, which has all of its digits where the sum has lost them.
inline double below(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}
inline double gelu(double x) {
  return x * below(x);
}
// By the product rule: 1 * P(x) + x * P'(x), and P' is the density of the normal distribution.
inline double slope(double x) {
  const double pi = 3.14159265358979323846;
  return below(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * pi);
}

}  // namespace day15
