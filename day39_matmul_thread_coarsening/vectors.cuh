// SPDX-License-Identifier: MIT
//
// Day 39: four floats at a time, as rung vectors writes it out.
#pragma once

#include <cuda_runtime.h>

namespace day39 {

__device__ inline float4 load4(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ inline void store4(float* to, float4 value) {
  *reinterpret_cast<float4*>(to) = value;
}
// To c, which nobody reads again: it leaves the caches first.
__device__ inline void store4_streaming(float* to, const float* values) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(values[0], values[1], values[2], values[3]));
}
// Four floats below one another in the transposed tile, whose rows are `pitch` floats apart.
__device__ inline void scatter4(float* to, int pitch, float4 value) {
  to[0] = value.x;
  to[pitch] = value.y;
  to[2 * pitch] = value.z;
  to[3 * pitch] = value.w;
}

}  // namespace day39
