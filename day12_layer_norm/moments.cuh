// SPDX-License-Identifier: MIT
// What a row's moments are used for.
#pragma once

#include <cuda_runtime.h>

#include "common/moments.cuh"

namespace day12 {

using days::merge_lanes;
using days::Moments;

// What forward keeps of a row for backward.
struct Statistics {
  float mean, rstd;
};
// An infinity or a NaN in the row has made m2 NaN, but not always the mean.
template <class OfRow>
__device__ inline Statistics statistics(const OfRow& row, float eps) {
  return {row.m2 == row.m2 ? row.mean : row.m2, rsqrtf(row.m2 / row.n + eps)};
}

__device__ inline float normalised(float x, Statistics s, float gamma, float beta) {
  return (x - s.mean) * s.rstd * gamma + beta;
}

}  // namespace day12
