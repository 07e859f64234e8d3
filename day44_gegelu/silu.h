// SPDX-License-Identifier: MIT
// SwiGLU and its gradient in double: what the reference takes for the truth.
#pragma once

#include "day44_gegelu/formulas.h"

namespace day44 {

// SiLU is x * sigmoid(x).
struct Silu {
  static double z(double x) { return x; }
  static double z_slope(double) { return 1; }
};
inline double exact_swiglu(double gate, double value) {
  return exact_gelu<Silu>(gate) * value;
}
inline ExactGradient exact_swiglu_gradient(double gate, double value, double dy) {
  return {dy * value * exact_slope<Silu>(gate), dy * exact_gelu<Silu>(gate)};
}

}  // namespace day44
