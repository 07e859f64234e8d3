// SPDX-License-Identifier: MIT
// Blue's three sums (Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978; constants as
// in Anderson, Algorithm 978, 2017): squares of big numbers, scaled down; of small ones, scaled up; of the rest.
#pragma once

#include <cuda_runtime.h>

namespace day37 {

// From kSmall to kBig squares are normal floats, and 2^23 of them add up to one. Beyond, the scaled number's are.
inline constexpr float kSmall = 0x1p-63f, kBig = 0x1p52f, kScaleUp = 0x1p75f, kScaleDown = 0x1p-76f;

// A sum of (x * power)^2.
struct ScaledSum {
  float power, sum;
};

// The three sums of a row as one. What is small beside big ones counts nothing.
__device__ inline ScaledSum merge(float big, float middle, float small) {
  if (!(big <= 0)) return {kScaleDown, big + middle * kScaleDown * kScaleDown};
  if (!(middle <= 0)) return {1, middle + small / kScaleUp / kScaleUp};
  return {kScaleUp, small};
}

}  // namespace day37
