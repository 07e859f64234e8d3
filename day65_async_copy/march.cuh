// SPDX-License-Identifier: MIT
//
// What the marching rungs have in common: where a block's part of the field lies, and the sums that a thread keeps while the
// rows come by.
#pragma once

#include <cstdint>

#include "common/vector.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {

using Vector = days::Vec<float>;  // 4 columns: what one thread fetches and computes of a row
using Row = Vector[kThreads];     // the kTile columns of a row that a block fetches

// A block's part of the field, and this thread's place in it.
struct Part {
  int64_t first, last;  // the rows that the block computes
  int64_t
      left;  // the column where its tile begins: kMargin before those that it computes, so it may be negative
  int64_t col;    // the first of this thread's four columns
  bool inside;    // these columns are of the field
  bool computes;  // and they are not in the margin

  template <class T>
  __device__ Part(const Stencil<T>& p, const March& march) {
    first = blockIdx.x / march.strips * march.rows;
    last = min(first + march.rows, int64_t{p.rows});
    left = blockIdx.x % march.strips * kStrip - kMargin;
    col = left + 4 * static_cast<int>(threadIdx.x);
    inside = col >= 0 && col < p.cols;
    computes = inside && threadIdx.x >= kMargin / 4 && threadIdx.x < kThreads - kMargin / 4;
  }
};

// The twelve values of a row that a thread's four columns depend on. The first and the last thread have no neighbour on one
// side; they take their own values there, and nobody stores what they compute.
struct Near {
  Vector left, own, right;
  __device__ explicit Near(const Row& row)
      : left(row[threadIdx.x > 0 ? threadIdx.x - 1 : 0]),
        own(row[threadIdx.x]),
        right(row[threadIdx.x < kThreads - 1 ? threadIdx.x + 1 : kThreads - 1]) {}
  __device__ float operator[](int i) const { return i < 4 ? left[i] : i < 8 ? own[i - 4] : right[i - 8]; }
};

// The unfinished sums of nine rows of out, kRadius above the row that has just come to kRadius below it.
struct Sums {
  Vector row[2 * kRadius + 1] = {};

  // Adds what the row that has just come contributes to each of them. Nobody needs it afterwards.
  __device__ void add(const Near& near) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      row[kRadius][i] += weight(0) * near[4 + i];
#pragma unroll
      for (int k = 1; k <= kRadius; ++k) {
        row[kRadius][i] += weight(k) * (near[4 + i - k] + near[4 + i + k]);
        row[kRadius - k][i] += weight(k) * near[4 + i];
        row[kRadius + k][i] += weight(k) * near[4 + i];
      }
    }
  }
  // The uppermost is complete; all move up by one.
  __device__ Vector take() {
    const Vector done = row[0];
#pragma unroll
    for (int d = 0; d < 2 * kRadius; ++d) row[d] = row[d + 1];
    row[2 * kRadius] = {};
    return done;
  }
};

}  // namespace day65
