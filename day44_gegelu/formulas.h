// SPDX-License-Identifier: MIT
// The day's functions in double: what the reference takes for the truth.
#pragma once

#include <cmath>

namespace day44 {

// Both GELUs are x * sigmoid(z(x)); z for the formula with tanh is twice what goes into tanh.
struct TanhGelu {
  static double z(double x) { return 2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x); }
  static double z_slope(double x) {
    return 2 * std::sqrt(2 / 3.14159265358979323846) * (1 + 3 * 0.044715 * x * x);
  }
};
struct QuickGelu {
  static double z(double x) { return 1.702 * x; }
  static double z_slope(double) { return 1.702; }
};

template <class Gelu>
double exact_gelu(double x) {
  return x / (1 + std::exp(-Gelu::z(x)));
}
// s + x z' s (1 - s), with 1 - s as sigmoid(-z), which has all of its digits. At the infinities its limit.
template <class Gelu>
double exact_slope(double x) {
  if (std::isinf(x)) return x > 0 ? 1 : 0;
  const double z = Gelu::z(x), s = 1 / (1 + std::exp(-z)), rest = 1 / (1 + std::exp(z));
  // Far out s or rest is 0, and their product with x z' has to be, too, where that is more than a double holds.
  if (s == 0 || rest == 0) return s;
  return s + x * Gelu::z_slope(x) * s * rest;
}

// What Phi-3 clamps: what is finite and beyond the limit.
inline bool beyond_limit(double x, double limit) {
  return std::isfinite(x) && x > limit;
}
inline double clamped_gate(double gate, double limit) {
  return beyond_limit(gate, limit) ? limit : gate;
}
inline double clamped_value(double value, double limit) {
  return beyond_limit(value, limit) ? limit : beyond_limit(-value, limit) ? -limit : value;
}

inline double exact_geglu(double gate, double value) {
  return exact_gelu<TanhGelu>(gate) * value;
}
inline double exact_gegelu(double gate, double value, double limit) {
  return exact_gelu<QuickGelu>(clamped_gate(gate, limit)) * (clamped_value(value, limit) + 1);
}

struct ExactGradient {
  double gate, value;
};
inline ExactGradient exact_geglu_gradient(double gate, double value, double dy) {
  return {dy * value * exact_slope<TanhGelu>(gate), dy * exact_gelu<TanhGelu>(gate)};
}
inline ExactGradient exact_gegelu_gradient(double gate, double value, double dy, double limit) {
  const bool gate_held = beyond_limit(gate, limit);
  const bool value_held = beyond_limit(value, limit) || beyond_limit(-value, limit);
  const double g = clamped_gate(gate, limit), v = clamped_value(value, limit);
  return {gate_held ? 0 : dy * (v + 1) * exact_slope<QuickGelu>(g),
          value_held ? 0 : dy * exact_gelu<QuickGelu>(g)};
}

}  // namespace day44
