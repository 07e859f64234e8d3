// SPDX-License-Identifier: MIT
// The softmax's steps on a thread's part of a row, which stays in registers (common/row.cuh): what registers and cluster
// do alike, each with another way to bring the parts of a row together.
#pragma once

#include "common/ptx.h"
#include "common/row.cuh"
#include "day14_softmax/partial.cuh"

namespace day14 {

using days::kVector;
using days::RowParts;
using days::RowValues;

// e^x for x <= 0, times 1 or, in 16 bits, times 2^8: a factor that is in the numerators and in the sum and
// goes when one is divided by the other. There the instruction for 2^x serves as it is, at a third of expf's
// instructions: its error is nothing beside a rounding to 16 bits, and what it takes for 0, less than 2^-134,
// bf16 does too. (A larger factor would make the quotients' scale too small for fp32.)
template <class T>
__device__ inline float exponential(float x) {
  constexpr float kLog2e = 1.44269504f;
  return sizeof(T) == 4 ? expf(x) : days::ptx::ex2_approx_ftz(fmaf(x, kLog2e, 8.0f));
}

// Replaces a thread's values by exponential(value - max), with the maximum of the group of kLanes lanes,
// and returns what is known of the group. That no lane waits for the row's maximum before it goes on saves
// the block a barrier; the values are scaled to it when they are written.
template <int kLanes, class T, int kVectors, bool kEdge>
__device__ inline Partial exponentials(RowValues<T, kVectors, kEdge>& values) {
  float max = kLowest, sum = 0;
#pragma unroll
  for (const float value : values.value) max = fmaxf(max, value);
  max = days::warp_reduce<kLanes>(max, days::Max{});
#pragma unroll
  for (float& value : values.value) {
    value = exponential<T>(value - max);
    sum += value;
  }
  return {max, days::warp_reduce<kLanes>(sum, days::Sum{})};
}

// Makes the softmax of a thread's values: of_group is what exponentials() returned, of_row the same of the whole row.
template <class T, int kVectors, bool kEdge>
__device__ inline void normalise(RowValues<T, kVectors, kEdge>& values, Partial of_group, Partial of_row) {
  const float scale = expf(of_group.max - of_row.max) / of_row.sum;
#pragma unroll
  for (float& value : values.value) value *= scale;
}

}  // namespace day14
