// SPDX-License-Identifier: MIT
// What both rungs of RMS norm do with a row's squares and with an element.
#pragma once

#include <cuda_runtime.h>

#include "common/types.h"

namespace day12 {

__device__ inline float rms_rstd(float squares, int cols, float eps) {
  return rsqrtf(squares / static_cast<float>(cols) + eps);
}
// Rounded twice in 16 bits, as Llama's models are trained.
template <class T>
__device__ inline float rms_scaled(float x, float rstd, float gamma) {
  return days::to_float(days::from_float<T>(x * rstd)) * gamma;
}

}  // namespace day12
