// SPDX-License-Identifier: MIT
//
// Sine and cosine by the special function unit. Not part of common/ptx.h: included by the kernels that want them.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace days::ptx {

#ifdef __SIMT__
namespace detail {
// A CPU knows both to the last digit, so that a kernel which needs more than the instructions give would pass there. The
// twins do what the GPU does: the angle is multiplied by 1 / (2 pi) in fp32 and rounded towards 0 (FMUL.RZ), which for
// large angles leaves few digits of the fraction of a turn, and the result is a multiple of 2^-20.
inline float sine_of_turns(float x, double quarter) {
  const double exact = static_cast<double>(x) * 0.159154943f;
  float turns = static_cast<float>(exact);
  if (std::abs(static_cast<double>(turns)) > std::abs(exact)) turns = std::nextafter(turns, 0.0f);
  const double part = static_cast<double>(turns) - std::nearbyint(static_cast<double>(turns));
  return static_cast<float>(std::nearbyint(std::sin(6.283185307179586 * (part + quarter)) * 0x1p20) *
                            0x1p-20);
}
}  // namespace detail
#endif

// sin.approx.ftz.f32: with an absolute error of 2^-20.5 at most for x from -2 pi to 2 pi, and of 2^-14.7 from -100 pi to
// 100 pi; further out nothing is promised. Section "sin".
__device__ __forceinline__ float sin_approx_ftz(float x) {
#ifdef __SIMT__
  return detail::sine_of_turns(x, 0);
#else
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// cos.approx.ftz.f32: the same. Section "cos".
__device__ __forceinline__ float cos_approx_ftz(float x) {
#ifdef __SIMT__
  return detail::sine_of_turns(x, 0.25);
#else
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

}  // namespace days::ptx
