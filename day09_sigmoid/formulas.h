// SPDX-License-Identifier: MIT
// The logistic function and its derivative in double: what the references and programs/tails.cu take for the truth. Both
// tails have all of their digits, because nothing is subtracted and no power of e is above 1.
#pragma once

#include <cmath>

namespace day09 {

inline double exact_sigmoid(double x) {
  const double power = std::exp(-std::abs(x));
  return x < 0 ? power / (1 + power) : 1 / (1 + power);
}

inline double exact_derivative(double x) {
  const double power = std::exp(-std::abs(x));
  return power / ((1 + power) * (1 + power));
}

}  // namespace day09
