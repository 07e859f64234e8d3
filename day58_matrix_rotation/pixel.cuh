// SPDX-License-Identifier: MIT
//
// A pixel of either type as the 4 bytes that are moved and as the floats that are computed with.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "day58_matrix_rotation/turn.h"

namespace day58 {

template <class T>
struct Pixel;
template <>
struct Pixel<float> {
  using Bytes = float;
  using Value = float;
  __device__ static float value(float bytes) { return bytes; }
  __device__ static float bytes(float value) { return value; }
};
template <>
struct Pixel<uint8_t> {
  using Bytes = uchar4;
  using Value = float4;  // 0 to 255 in each
  __device__ static float4 value(uchar4 b) {
    return make_float4(static_cast<float>(b.x), static_cast<float>(b.y), static_cast<float>(b.z),
                       static_cast<float>(b.w));
  }
  __device__ static unsigned char rounded(float v) { return static_cast<unsigned char>(v + 0.5f); }
  __device__ static uchar4 bytes(float4 v) {
    return make_uchar4(rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w));
  }
};

// a where the weight is 0, b where it is 1.
__device__ inline float blend(float a, float b, float weight) {
  return a + weight * (b - a);
}
__device__ inline float4 blend(float4 a, float4 b, float weight) {
  return make_float4(blend(a.x, b.x, weight), blend(a.y, b.y, weight), blend(a.z, b.z, weight),
                     blend(a.w, b.w, weight));
}

}  // namespace day58
