// SPDX-License-Identifier: MIT
// What all rungs do with a gate and a value, in fp32. The day is about where these lie, so the arithmetic is shared.
#pragma once

#include <cuda_runtime.h>

#include "common/ptx.h"

namespace day44 {

// Both GELUs are x * sigmoid(z): z = 1.702 x, or z = 2 u, where u is what the usual formula gives to tanh.
inline constexpr float kQuick = 1.702f;
inline constexpr float kTanh = 1.59576912f, kTanh3 = 0.0713548163f;  // 2 sqrt(2 / pi), and 0.044715 of it
inline constexpr float kLog2e = 1.44269504f;

// x / (1 + e^-z), where `power` is -z / ln 2. Two instructions of the special function unit.
__device__ inline float gated(float x, float power) {
  return __fdividef(x, 1 + days::ptx::ex2_approx_ftz(power));
}
__device__ inline float gelu(float x) {
  return gated(x, x * fmaf(-kLog2e * kTanh3, x * x, -kLog2e * kTanh));
}
__device__ inline float quick(float x) {
  return gated(x, -kLog2e * kQuick * x);
}

// The derivative of x * sigmoid(z(x)): s + x * z' * s * (1 - s), where e is e^-z. 1 - s is e * s, which has all digits
// where s is near 1; but where e is inf and s is 0 that is no number.
__device__ inline float slope(float x, float z, float z_slope) {
  const float e = days::ptx::ex2_approx_ftz(-kLog2e * z), s = __fdividef(1.0f, 1 + e);
  const float rest = e > 1 ? 1 - s : e * s;
  return fmaf(x * z_slope * rest, s, s);
}
// Beyond 64 a slope is 0 or 1 in fp32, and what stays within it overflows nowhere. A comparison with NaN is false, so NaN
// stays NaN, which fminf and fmaxf would lose.
__device__ inline float within_64(float x) {
  return x > 64 ? 64 : x < -64 ? -64 : x;
}
__device__ inline float gelu_slope(float gate) {
  const float x = within_64(gate);
  return slope(x, x * fmaf(kTanh3, x * x, kTanh), fmaf(3 * kTanh3, x * x, kTanh));
}
__device__ inline float quick_slope(float gate) {
  const float x = within_64(gate);
  return slope(x, kQuick * x, kQuick);
}

// Finite and beyond the limit: what Phi-3 clamps. NaN is not.
__device__ inline bool beyond(float x, float limit) {
  return x > limit && x < __int_as_float(0x7f800000);
}

__device__ inline float geglu(float gate, float value) {
  return gelu(gate) * value;
}
__device__ inline float gegelu(float gate, float value, float limit) {
  const float g = beyond(gate, limit) ? limit : gate;
  const float v = beyond(value, limit) ? limit : beyond(-value, limit) ? -limit : value;
  return quick(g) * (v + 1);
}

// A slope is at most 1.13, so that dy * slope overflows for no dy but the largest, where dy * value may.
struct Gradient {
  float gate, value;
};
__device__ inline Gradient geglu_gradient(float gate, float value, float dy) {
  return {dy * gelu_slope(gate) * value, dy * gelu(gate)};
}
__device__ inline Gradient gegelu_gradient(float gate, float value, float dy, float limit) {
  const bool held = beyond(gate, limit), above = beyond(value, limit), below = beyond(-value, limit);
  const float g = held ? limit : gate, v = above ? limit : below ? -limit : value;
  return {held ? 0 : dy * quick_slope(g) * (v + 1), above || below ? 0 : dy * quick(g)};
}

}  // namespace day44
