// SPDX-License-Identifier: MIT
// The two sums of backward, and what dx is made of.
#pragma once

#include "common/reduce.cuh"
#include "day08_batch_norm/channel.cuh"

namespace day08 {

struct Sums {
  float beta = 0, gamma = 0;  // of dy, and of dy * xhat
};

// `count` parts as one, in every lane of the warp that calls it.
__device__ inline Sums add_parts(const Sums* parts, int count) {
  Sums mine;
  for (int i = threadIdx.x % days::kWarpSize; i < count; i += days::kWarpSize) {
    mine.beta += parts[i].beta;
    mine.gamma += parts[i].gamma;
  }
  return {days::warp_reduce(mine.beta, days::Sum{}), days::warp_reduce(mine.gamma, days::Sum{})};
}

struct Gradient {
  float mean, rstd, average_beta, average_gamma, scale;

  __device__ float operator()(float x, float dy) const {
    return scale * (dy - average_beta - (x - mean) * rstd * average_gamma);
  }
};
template <class T>
__device__ inline Gradient gradient_of(const BatchNormBackward<T>& p, Sums all, int channel) {
  const float n = static_cast<float>(int64_t{p.batch} * p.space), rstd = p.rstd[channel];
  return {p.mean[channel], rstd, all.beta / n, all.gamma / n, p.gamma[channel] * rstd};
}

}  // namespace day08
