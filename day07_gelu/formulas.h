// SPDX-License-Identifier: MIT
// GELU and its approximation in double: what the references and programs/accuracy.cu take for the truth.
#pragma once

#include <cmath>

namespace day07 {

// 1 + erf(z) is erfc(-z), which has all of its digits where the sum has lost them.
inline double exact_gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

// (1 + tanh(u)) / 2 is 1 / (1 + e^(-2u)): again what has all of its digits.
inline double tanh_gelu(double x) {
  const double pi = 3.14159265358979323846;
  return x / (1 + std::exp(-2 * std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}

}  // namespace day07
