// SPDX-License-Identifier: MIT
//
// Arithmetic that C++ has no word for. Included by common/ptx.h.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace days::ptx {

// ex2.approx.ftz.f32: 2^x in one instruction, with a relative error of 2^-22; results below 2^-126 are 0.
// (exp2f spends three instructions more to get those right.) Section "ex2".
__device__ __forceinline__ float ex2_approx_ftz(float x) {
#ifdef __SIMT__
  return x < -126.0f ? 0.0f : exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// rcp.approx.ftz.f32: 1/x in one instruction, with a relative error of 2^-23. Operands and results below 2^-126 are 0, so
// that of a denormal it is infinite, and of a number beyond 2^126 it is 0. Section "rcp".
__device__ __forceinline__ float rcp_approx_ftz(float x) {
#ifdef __SIMT__
  const float y = 1.0f / (fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x);
  return fabsf(y) < 0x1p-126f ? copysignf(0.0f, y) : y;
#else
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

}  // namespace days::ptx
