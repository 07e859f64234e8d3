// SPDX-License-Identifier: MIT
// What stages and ticket share: a block's tile of elements, and the sum of all blocks' partial sums. Both add up in an order
// that n alone decides, so that they give the same bits on every run and on every GPU.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day41_swish/gradient.cuh"
#include "day41_swish/swish.h"

namespace day41 {

// dx of the block's tile; returns the block's part of dbeta, in every thread.
template <class T>
__device__ inline float tile_gradient(const SwishBackward<T>& p) {
  constexpr int kEach = kOfVector<T>;
  const float beta = *p.beta;
  float sum = 0;
#pragma unroll 2
  for (int turn = 0; turn < kTurns; ++turn) {
    const int64_t first =
        int64_t{blockIdx.x} * kTile<T> + (turn * kThreads + static_cast<int>(threadIdx.x)) * kEach;
    if (first + kEach <= p.n) {
      const days::Vec<T> x = days::load16(p.x + first);
      days::Vec<T> dy = days::load16(p.dy + first);
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Gradient one = gradient(days::to_float(x[i]), days::to_float(dy[i]), beta);
        dy[i] = days::from_float<T>(one.dx);
        sum += one.of_beta;
      }
      days::store16(p.dx + first, dy);
    } else {
      for (int64_t i = first; i < p.n; ++i) {
        const Gradient one = gradient(days::to_float(p.x[i]), days::to_float(p.dy[i]), beta);
        p.dx[i] = days::from_float<T>(one.dx);
        sum += one.of_beta;
      }
    }
  }
  return days::block_reduce(sum, days::Sum{}, 0.0f);
}

// The sum of `count` numbers by one block of kThreads, in every thread. volatile: other blocks of the same launch may have
// written them, and a value that L1 has kept may be older.
__device__ inline float sum_of_partials(const volatile float* partials, unsigned count) {
  float sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) sum += partials[i];
  return days::block_reduce(sum, days::Sum{}, 0.0f);
}

}  // namespace day41
