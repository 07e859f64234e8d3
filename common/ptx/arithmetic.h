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

}  // namespace days::ptx
