// SPDX-License-Identifier: MIT
// What backward divides a row by.
#pragma once

#include "day37_l2_norm/scale.cuh"

namespace day37 {

// dx = (dy - y * along) / divisor, where along is the sum of y * dy, or 0 where the norm was clamped. The division is
// two multiplications: by half of the divisor's power of two, then by a factor of more than 1 up to 2, so that a
// product that overflows is one whose quotient does. (A divisor that is a denormal takes a larger factor, and one of
// 2^127 and more a factor below 1: power is then too small to overflow.)
struct Slope {
  float power, factor;
  bool clamped;

  __device__ Slope(float norm, float eps) {
    clamped = norm <= eps;
    const float divisor = clamped ? eps : norm;
    power = inverse_power(divisor) / 2;
    factor = 1 / (divisor * power);
  }
  __device__ float dx(float y, float dy, float along) const {
    return (clamped ? dy : dy - y * along) * power * factor;
  }
};

}  // namespace day37
