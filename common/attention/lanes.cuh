// SPDX-License-Identifier: MIT
//
// One query against rows of keys, 16 bytes a lane: which lanes have which part of a row, and what they make of
// it. Day 49 takes it apart (day49_kv_cache/02_warps.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/attention/partials.cuh"
#include "common/problems/decode.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"

namespace days::attention {

// A row of kDim elements is kRowLanes lanes wide, so a warp's request takes kRows neighbours.
template <class T, int kDim>
struct Lanes {
  static constexpr int kCols = 16 / static_cast<int>(sizeof(T));
  static constexpr int kRowLanes = kDim / kCols;
  static constexpr int kRows = kWarpSize / kRowLanes;

  // Of this lane: its row among those of the request, and its first column.
  static __device__ __forceinline__ int row() {
    return static_cast<int>(threadIdx.x) % kWarpSize / kRowLanes;
  }
  static __device__ __forceinline__ int col() { return static_cast<int>(threadIdx.x) % kRowLanes * kCols; }

  // This lane's columns of the query, times `scale`.
  static __device__ __forceinline__ void load_query(float (&q)[kCols], const T* from, float scale) {
    const Vec<T> word = load16(from + col());
#pragma unroll
    for (int i = 0; i < kCols; ++i) q[i] = to_float(word[i]) * scale;
  }
  // The product of the query and this lane's row, in all lanes of the row. All lanes of the warp must call it.
  static __device__ __forceinline__ float score(const float (&q)[kCols], const Vec<T>& k) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kCols; ++i) sum = fmaf(q[i], to_float(k[i]), sum);
    return warp_reduce<kRowLanes>(sum, Sum{});
  }
  // kAtOnce requests of keys and values, from row `first` on; those from `end` on do not count, and their values are to be
  // finite. The exchanges of one request hide those of the others.
  template <int kAtOnce>
  static __device__ __forceinline__ void step(Running<kCols>& mine, const float (&q)[kCols],
                                              const Vec<T> (&k)[kAtOnce], const Vec<T> (&v)[kAtOnce],
                                              int first, int end) {
    float scores[kAtOnce], most = -INFINITY;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float product = score(q, k[i]);
      scores[i] = first + i * kRows + row() < end ? product : -INFINITY;
      most = fmaxf(most, scores[i]);
    }
    mine.rise(most);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) mine.add(mine.weight(scores[i]), v[i]);
  }
  // What all lanes of the warp have, in the lanes of its first row.
  static __device__ __forceinline__ void join(Running<kCols>& mine) {
#pragma unroll
    for (int distance = kRowLanes; distance < kWarpSize; distance *= 2) mine.join_lane(distance);
  }
};

// The rows of one head of one sequence: 0 ... length - 1 in the cache, and row `length`, which is read where the
// layer before has left it, for another block may be copying it.
template <class T, int kDim>
struct HeadRows {
  int length;
  bool room;     // else there is nothing to do
  bool appends;  // among the heads that share these rows it is this one's to copy the new row
  T *k, *v;
  const T *k_new, *v_new;

  __device__ HeadRows(const Decode<T>& p, int sequence, int head) {
    const int group = p.heads / p.kv_heads, kv_head = head / group;
    length = p.lengths[sequence];
    room = has_room(length, p.capacity);
    appends = head % group == 0;
    const int64_t cache = (int64_t{sequence} * p.kv_heads + kv_head) * p.capacity * kDim;
    const int64_t added = p.new_pitch.at(sequence, kv_head);
    k = p.k + cache;
    v = p.v + cache;
    k_new = p.k_new + added;
    v_new = p.v_new + added;
  }
  __device__ __forceinline__ int keys() const { return length + 1; }
  __device__ __forceinline__ const T* key(int row) const {
    return row == length ? k_new : k + int64_t{row} * kDim;
  }
  __device__ __forceinline__ const T* value(int row) const {
    return row == length ? v_new : v + int64_t{row} * kDim;
  }
  // The new row goes into the cache, 16 bytes a thread; for a block.
  __device__ __forceinline__ void append() const {
    const int col = static_cast<int>(threadIdx.x) * Lanes<T, kDim>::kCols;
    if (!appends || col >= kDim) return;
    store16(k + int64_t{length} * kDim + col, load16(k_new + col));
    store16(v + int64_t{length} * kDim + col, load16(v_new + col));
  }
};

// Keys and values `first` ... end - 1, as far as they are this warp's among kWarps.
template <int kWarps, int kAtOnce, class T, int kDim>
__device__ __forceinline__ void attend(Running<Lanes<T, kDim>::kCols>& mine,
                                       const float (&q)[Lanes<T, kDim>::kCols], const HeadRows<T, kDim>& rows,
                                       int first, int end) {
  using L = Lanes<T, kDim>;
  constexpr int kTile = kAtOnce * L::kRows;
  for (int at = first + static_cast<int>(threadIdx.x) / kWarpSize * kTile; at < end; at += kWarps * kTile) {
    Vec<T> k[kAtOnce] = {}, v[kAtOnce] = {};  // zeros beyond the end, for a weight of 0 times NaN is NaN
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = at + i * L::kRows + L::row();
      if (row < end) {
        k[i] = load16(rows.key(row) + L::col());
        v[i] = load16(rows.value(row) + L::col());
      }
    }
    L::step(mine, q, k, v, at, end);
  }
}

// Column `col` of o, and lse, of a head.
template <class T>
__device__ __forceinline__ void write_part(const Decode<T>& p, int sequence, int head, int col, Part part) {
  p.o[p.o_pitch.at(sequence, head) + col] = from_float<T>(part.o);
  if (col == 0) p.lse[int64_t{sequence} * p.heads + head] = part.lse;
}

// By a block of at least kDim threads: what the lengths leave no room for.
template <int kDim, class T>
__device__ void write_nan(const Decode<T>& p, int sequence, int head) {
  const int col = static_cast<int>(threadIdx.x);
  if (col < kDim) write_part(p, sequence, head, col, {NAN, NAN});
}

}  // namespace days::attention
