// SPDX-License-Identifier: MIT
// The last loop over a row: what each of its numbers becomes, and what the row's loss is. A block has the row.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/partial.cuh"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/row.cuh"
#include "day74_cross_entropy/cross_entropy.h"

namespace day74 {

using days::Partial;

// e^x for x <= 0. In 16 bits the instruction for 2^x serves as it is: its error is nothing beside a rounding, and it takes for 0 what is
// below 2^-126.
template <class T>
__device__ inline float exponential(float x) {
  constexpr float kLog2e = 1.44269504f;
  return sizeof(T) == 4 ? expf(x) : days::ptx::ex2_approx_ftz(x * kLog2e);
}

// dx = dloss * (e^(x - max) / sum - (1 - s) [at the target] - s / classes), rounded to T only once it is whole: a probability of
// 0.9995 is 1 in bf16, and 1 - 1 is no gradient.
struct Gradient {
  float max, scale, everywhere, at_target;

  template <class T>
  __device__ Gradient(const CrossEntropy<T>& p, Partial row, float dloss)
      : max(row.max),
        scale(dloss / row.sum),
        everywhere(dloss * (p.smoothing / static_cast<float>(p.classes))),
        at_target(dloss * (1 - p.smoothing)) {}
  // Of a number that is not the target's; the target's is less by at_target.
  template <class T>
  __device__ float of(float x) const {
    return fmaf(exponential<T>(x - max), scale, -everywhere);
  }
};

// log(sum of e^x) - (1 - s) x[y] - s / classes * (sum of x). Neither sum is as large as x: from each x the maximum is taken first, and
// log(sum) is added last. `below`: the sum of max - x. What has no weight does not count, and be it infinite.
template <class T>
__device__ inline float loss_of(const CrossEntropy<T>& p, Partial row, float x_target, float below) {
  float loss = logf(row.sum);
  if (p.smoothing != 1) loss += (1 - p.smoothing) * (row.max - x_target);
  if (p.smoothing != 0) loss += p.smoothing * (below / static_cast<float>(p.classes));
  return loss;
}

// One vector more: the online step for all of its numbers.
template <class T, size_t kCount>
__device__ inline void add_all(Partial& mine, const float (&values)[kCount]) {
  float most = mine.max, sum = 0;
#pragma unroll
  for (const float value : values) most = fmaxf(most, value);
  if (most > mine.max) {
    mine.sum *= expf(mine.max - most);
    mine.max = most;
  }
#pragma unroll
  for (const float value : values) sum += exponential<T>(value - most);
  mine.sum += sum;
}

// Where the target is in a row of vectors: in which of them, at which place, or which element of the edge.
struct Place {
  int vector = -1, lane = -1, edge = -1;

  template <class T>
  __device__ Place(const days::RowParts<T>& parts, int target) {
    constexpr int kVector = days::kVector<T>;
    const int past = target - parts.head;
    if (past >= 0 && past < parts.vectors * kVector) {
      vector = past / kVector;
      lane = past % kVector;
    } else {
      edge = past < 0 ? target : target - parts.vectors * kVector;
    }
  }
};

// Writes `value` to columns `from` to `end` of the row.
template <class T>
__device__ inline void fill_row(T* row, int from, int end, float value, int thread, int threads) {
  const T filler = days::from_float<T>(value);
  const days::RowParts<T> parts(row + from, end - from);
  days::Vec<T> fillers;
#pragma unroll
  for (int i = 0; i < days::kVector<T>; ++i) fillers[i] = filler;
  for (int i = thread; i < parts.vectors; i += threads)
    days::store_vector(row + from + parts.vector_col(i), fillers, true);
  if (thread < parts.edge) row[from + parts.edge_col(thread)] = filler;
}

// A row without a class to learn: all of its gradient and its loss are 0 or NaN. True where it was one.
template <class T>
__device__ inline bool without_class(const CrossEntropy<T>& p, int64_t row, int32_t target, int thread,
                                     int threads) {
  const Target kind = kind_of(target, p.classes, p.ignore_index);
  if (kind == Target::kClass) return false;
  const float value = kind == Target::kIgnored ? 0 : NAN;
  fill_row(p.logits + row * p.cols, 0, p.classes, value, thread, threads);
  if (thread == 0) p.loss[row] = value;
  return true;
}

}  // namespace day74
