// SPDX-License-Identifier: MIT
//
// The hyperbolic tangent in one instruction, from compute capability 7.5 on. Not part of common/ptx.h: included by the
// kernels that want it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace days::ptx {

#ifdef __SIMT__
namespace detail {
// A CPU knows tanh to the last digit, so that a kernel which needs more than the instruction gives would pass there.
// The twins below err by as much as PTX permits, and by no more: a relative 2^-11 is 11 binary digits, and an
// absolute error of 2^-11 (2^-8) is a multiple of 2^-10 (2^-7).
inline float to_11_digits(float x) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent;
  const float fraction = std::frexp(x, &exponent);  // from 0.5 to 1
  return std::ldexp(std::nearbyint(fraction * 2048), exponent - 11);
}
inline float to_multiple(float x, float of_one) {
  return std::copysign(std::nearbyint(x * of_one) / of_one, x);
}
}  // namespace detail
#endif

// tanh.approx.f32: the hyperbolic tangent in one instruction, with a relative error of 2^-11 at most, so that three or
// four decimal digits are right. Section "tanh".
__device__ __forceinline__ float tanh_approx(float x) {
#ifdef __SIMT__
  return detail::to_11_digits(tanhf(x));
#else
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// tanh.approx.f16x2: of two halves, with an absolute error of 2^-10.987 at most. Section "tanh".
__device__ __forceinline__ __half2 tanh_approx(__half2 x) {
#ifdef __SIMT__
  return __floats2half2_rn(detail::to_multiple(tanhf(__low2float(x)), 1024),
                           detail::to_multiple(tanhf(__high2float(x)), 1024));
#else
  uint32_t bits;
  memcpy(&bits, &x, 4);
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(bits) : "r"(bits));
  memcpy(static_cast<void*>(&x), &bits, 4);
  return x;
#endif
}

// tanh.approx.bf16x2: of two bfloat16, with an absolute error of 2^-8 at most. From compute capability 9.0; before
// that the instruction for fp32, twice. Section "tanh".
__device__ __forceinline__ __nv_bfloat162 tanh_approx(__nv_bfloat162 x) {
#ifdef __SIMT__
  return __floats2bfloat162_rn(detail::to_multiple(tanhf(__low2float(x)), 128),
                               detail::to_multiple(tanhf(__high2float(x)), 128));
#elif __CUDA_ARCH__ >= 900
  uint32_t bits;
  memcpy(&bits, &x, 4);
  asm("tanh.approx.bf16x2 %0, %1;" : "=r"(bits) : "r"(bits));
  memcpy(static_cast<void*>(&x), &bits, 4);
  return x;
#else
  return __floats2bfloat162_rn(tanh_approx(__low2float(x)), tanh_approx(__high2float(x)));
#endif
}

}  // namespace days::ptx
