// SPDX-License-Identifier: MIT
// Swish and its two derivatives in double: what the references and programs/order.cu take for the truth.
#pragma once

#include <cmath>

namespace day41 {

struct Exact {
  double y, by_x, by_beta;  // x s(u), and its derivatives

  Exact(double x, double beta) {
    const double u = beta * x, power = std::exp(-std::abs(u));
    const double near = 1 / (1 + power), far = power / (1 + power);  // s(|u|), s(-|u|)
    const double s = u < 0 ? far : near, mirrored = u < 0 ? near : far;
    y = x * s;
    by_x = std::isinf(u) ? s : s * (1 + u * mirrored);
    by_beta = x * (s * mirrored) * x;
  }
};

}  // namespace day41
