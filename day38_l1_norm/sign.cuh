// SPDX-License-Identifier: MIT
// What backward needs of an x, in two bits: 00 zero, 01 above, 10 below, 11 NaN.
#pragma once

#include <cuda_runtime.h>

namespace day38 {

// A NaN is neither at most 0 nor at least 0, so both questions are answered yes: the fourth code costs nothing.
__device__ inline bool not_below(float x) {
  return !(x <= 0);
}
__device__ inline bool not_above(float x) {
  return !(x >= 0);
}

// dnorm * sign(x) by x's two bits. (A product with 0 and no constant 0: dnorm may be infinite or NaN.)
__device__ inline float dx_of(bool above, bool below, float dnorm) {
  if (above) return below ? nanf("") : dnorm;
  return below ? -dnorm : dnorm * 0;
}

}  // namespace day38
