// SPDX-License-Identifier: MIT
//
// What the marching rungs have in common: where a block's part of the field lies, and the sums that a thread keeps while the
// rows come by.
#pragma once

#include <cstdint>

#include "common/vector.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {

using Vector = days::Vec<float>;            // 4 columns: what one thread fetches and computes of a row
inline constexpr int kVectors = kTile / 4;  // of a tile
using Row = Vector[kVectors];               // the kTile columns of a row that a block fetches

// A block's part of the field, and this thread's place in it.
struct Part {
  int first, last;  // the rows that the block computes
  int bottom;       // where the rows end that it needs: below them is nothing, or another block's
  int left;         // the column where its tile begins, kMargin before the strip: it may be negative
  int own;          // which vector of a row's tile holds this thread's four columns
  int margin;       // threads 0 to 3: which vector of the margins the thread fetches besides

  template <class T>
  __device__ Part(const Stencil<T>& p, const March& march) {
    first = static_cast<int>(blockIdx.x / march.strips * march.rows);
    last = static_cast<int>(min(first + march.rows, int64_t{p.rows}));
    const int strip = static_cast<int>(blockIdx.x % march.strips), thread = static_cast<int>(threadIdx.x);
    bottom = min(last + kRadius, p.rows);
    left = strip * kStrip - kMargin;
    own = kMargin / 4 + thread;
    margin = thread < kMargin / 4 ? thread : thread + kStrip / 4;
  }
  __device__ bool has_margin() const { return threadIdx.x < 2 * kMargin / 4; }
  // Whether a vector of a row's tile is of the field, and where it is there.
  template <class T>
  __device__ bool has(const Stencil<T>& p, int row, int vector) const {
    // As unsigned numbers, the negative ones are too large as well.
    return static_cast<unsigned>(row) < static_cast<unsigned>(bottom) &&
           static_cast<unsigned>(left + 4 * vector) < static_cast<unsigned>(p.cols);
  }
  template <class T>
  __device__ const float* find(const Stencil<T>& p, int row, int vector) const {
    return p.in + left + 4 * vector + int64_t{row} * p.cols;
  }
  // Stores this thread's four columns of a row of out, if the block computes it.
  template <class T>
  __device__ void store(const Stencil<T>& p, int row, const Vector& done) const {
    const int col = left + 4 * own;
    if (col < p.cols && row >= first && row < last) days::store16(p.out + col + int64_t{row} * p.cols, done);
  }
};

// The same for rungs that count instructions: the addresses are not worked out for each row, they go down with the march.
// Source is a vector of the tile on its way down `in`; Target is this thread's four columns on their way down `out`.
struct Source {
  const float* at;  // in the row that is fetched next
  int row;
  bool inside;  // the field has these columns

  template <class T>
  __device__ Source(const Stencil<T>& p, const Part& part, int vector)
      : at(part.find(p, part.first - kRadius, vector)),
        row(part.first - kRadius),
        inside(part.has(p, part.first, vector)) {}
  __device__ bool there(const Part& part) const {
    return inside && static_cast<unsigned>(row) < static_cast<unsigned>(part.bottom);
  }
  template <class T>
  __device__ void next(const Stencil<T>& p) {
    at += p.cols;
    ++row;
  }
};
struct Target {
  float* at;  // in the row of the sum that is complete next
  int row;
  bool inside;

  template <class T>
  __device__ Target(const Stencil<T>& p, const Part& part)
      : at(p.out + (part.find(p, part.first - 2 * kRadius, part.own) - p.in)),
        row(part.first - 2 * kRadius),
        inside(part.has(p, part.first, part.own)) {}
  template <class T>
  __device__ void store(const Stencil<T>& p, const Part& part, const Vector& done) {
    if (inside && row >= part.first && row < part.last) days::store16(at, done);
    at += p.cols;
    ++row;
  }
};

// The twelve values of a row that a thread's four columns depend on, of which `own` points at the middle four.
struct Near {
  Vector left, middle, right;
  __device__ explicit Near(const Vector* own) : left(own[-1]), middle(own[0]), right(own[1]) {}
  __device__ float operator[](int i) const { return i < 4 ? left[i] : i < 8 ? middle[i - 4] : right[i - 8]; }
};

// The unfinished sums of nine rows of out, kRadius above the row that has just come to kRadius below it, in 4 columns for each
// of kOwn vectors.
inline constexpr int kSums = 2 * kRadius + 1;
template <int kOwn = 1>
struct Sums {
  Vector row[kSums][kOwn] = {};

  // Adds what the row that has just come contributes to each of them. The sum of the row of out that is d - kRadius below it has
  // the name (turn + d) % 9; where the sums move up after each row, turn is always 0.
  template <class Values>
  __device__ void add(const Values& near, int turn = 0) {
    const auto name = [&](int d) { return (turn + d) % kSums; };
#pragma unroll
    for (int i = 0; i < 4 * kOwn; ++i) {
      const auto sum = [&](int d) -> float& { return row[name(d)][i / 4][i % 4]; };
      sum(kRadius) += weight(0) * near[4 + i];
#pragma unroll
      for (int k = 1; k <= kRadius; ++k) {
        sum(kRadius) += weight(k) * (near[4 + i - k] + near[4 + i + k]);
        sum(kRadius - k) += weight(k) * near[4 + i];
        sum(kRadius + k) += weight(k) * near[4 + i];
      }
    }
  }
  // The uppermost is complete; all move up by one.
  __device__ Vector take() {
    static_assert(kOwn == 1);
    const Vector done = row[0][0];
#pragma unroll
    for (int d = 0; d < kSums - 1; ++d) row[d][0] = row[d + 1][0];
    row[kSums - 1][0] = {};
    return done;
  }
  // The same, but none moves: the uppermost becomes the lowest, and from now on its name means that.
  __device__ Vector take(int turn, int own = 0) {
    const Vector done = row[turn][own];
    row[turn][own] = {};
    return done;
  }
};

// The rows of a stage of rung tensor. One wait, one arrival and one announcement are then for three rows.
inline constexpr int kRows = 3;

// How many stages bring all rows that a part needs. The sums go by nine names, so it is a multiple of nine rows; what comes
// behind the last one is added to sums that nobody stores.
__device__ inline int stages_of(const Part& part) {
  return (part.last - part.first + 2 * kRadius + kSums - 1) / kSums * (kSums / kRows);
}

}  // namespace day65
