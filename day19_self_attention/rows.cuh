// SPDX-License-Identifier: MIT
//
// in_place's softmax, four scores a thread at a time and in two passes instead of three: the largest and the sum are
// found together, by day 14's sum that can be mended.
#pragma once

#include <cstdint>

#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"

namespace day19 {

// e^(x - from), with 0 for x of -infinity.
__device__ __forceinline__ float weight_of(float x, float from) {
  return days::ptx::ex2_approx_ftz((x - from) * 1.4426950408889634f);
}

// A block's row: `width` scores, a multiple of 4, become weights of type T in the same place.
template <int kThreads, class T>
__device__ __forceinline__ void softmax_row(float* row, int width, float* lse) {
  const int mine = 4 * static_cast<int>(threadIdx.x);
  float most = -INFINITY, sum = 0;  // of this thread's scores
  for (int at = mine; at < width; at += 4 * kThreads) {
    const float4 x = *reinterpret_cast<const float4*>(row + at);
    const float larger = fmaxf(fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)), most);
    if (larger == -INFINITY) continue;  // -infinity less itself is NaN
    sum = sum * weight_of(most, larger) + weight_of(x.x, larger) + weight_of(x.y, larger) +
          weight_of(x.z, larger) + weight_of(x.w, larger);
    most = larger;
  }
  const float largest = days::block_reduce(most, days::Max{}, -INFINITY);
  const float from = largest == -INFINITY ? 0 : largest;
  const float total = days::block_reduce(sum * weight_of(most, from), days::Sum{}, 0.0f);
  const float inverse = total == 0 ? 0 : 1 / total;
  for (int first = 0; first < width; first += 4 * kThreads) {
    const int at = first + mine;
    float4 x = make_float4(0, 0, 0, 0);
    if (at < width) x = *reinterpret_cast<const float4*>(row + at);
    x = make_float4(weight_of(x.x, from) * inverse, weight_of(x.y, from) * inverse,
                    weight_of(x.z, from) * inverse, weight_of(x.w, from) * inverse);
    if constexpr (sizeof(T) == sizeof(float)) {
      if (at < width) *reinterpret_cast<float4*>(row + at) = x;
    } else {
      __syncthreads();  // all have read the scores on which these weights will lie
      if (at < width) {
        *reinterpret_cast<uint2*>(reinterpret_cast<T*>(row) + at) =
            make_uint2(days::attention::pack<T>(x.x, x.y), days::attention::pack<T>(x.z, x.w));
      }
    }
  }
  if (threadIdx.x == 0) *lse = largest + logf(total);
}

}  // namespace day19
