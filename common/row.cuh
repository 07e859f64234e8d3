// SPDX-License-Identifier: MIT
// A row of a matrix as 16-byte vectors, wherever it begins and however long it is, in the registers of its threads.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/reduce.cuh"
#include "common/types.h"
#include "common/util.h"
#include "common/vector.cuh"

namespace days {

// Elements in 16 bytes.
template <class T>
inline constexpr int kVector = Vec<T>::kSize;

// Warps that kThreads threads are, at least one.
template <int kThreads>
inline constexpr int kWarpsOf = kThreads < kWarpSize ? 1 : kThreads / kWarpSize;

// The row's whole vectors begin at its first multiple of 16 bytes. What is before and after them, its edge,
// is at most 3 + 3 elements of fp32 and 7 + 7 of the 16-bit types: one each for the first sixteen threads.
// Without kEdge the launcher has seen that no row has one, and nothing here asks for it again.
template <class T, bool kEdge = true>
struct RowParts {
  int head = 0;  // elements before the first vector
  int vectors;   // whole ones
  int edge = 0;  // elements before and after the vectors

  __device__ RowParts(const T* row, int cols) {
    if constexpr (kEdge) {
      const unsigned past = static_cast<unsigned>(reinterpret_cast<uintptr_t>(row) % 16);
      head = min(cols, static_cast<int>((16 - past) % 16 / sizeof(T)));
    }
    vectors = (cols - head) / kVector<T>;
    if constexpr (kEdge) edge = cols - vectors * kVector<T>;
  }
  __device__ int vector_col(int i) const { return head + i * kVector<T>; }
  __device__ int edge_col(int i) const { return i < head ? i : i + vectors * kVector<T>; }
  // Whether the vectors are 16-byte vectors of another row too: of the output, whose rows may begin
  // elsewhere. Without kEdge they are: the launcher has seen that, too.
  __device__ bool fit(const T* other_row) const { return !kEdge || aligned16(other_row + head); }
};

// Stores one vector of a row, 16 bytes at once where it `fits`, and says that nobody reads this again.
template <class T>
__device__ inline void store_vector(T* to, const Vec<T>& vec, bool fits) {
  if (fits) return store16_streaming(to, vec);
#pragma unroll
  for (int i = 0; i < kVector<T>; ++i) to[i] = vec[i];
}

// A thread's part of a row as it comes from memory: kVectors vectors, `step` apart, each 16 bytes at once
// where they `fit`, and an element of the edge. What the row does not have is `filler`. thread: which of the
// row's threads this is.
template <class T, int kVectors>
struct RowBits {
  uint4 word[kVectors];  // not yet elements of T: to take them apart is to wait for them
  T edge;

  template <bool kEdge>
  __device__ RowBits(const T* row, const RowParts<T, kEdge>& parts, bool fit, int thread, int step,
                     T filler) {
    Vec<T> fillers;
#pragma unroll
    for (int j = 0; j < kVector<T>; ++j) fillers[j] = filler;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) word[v] = to_word(fillers);
    edge = thread < parts.edge ? row[parts.edge_col(thread)] : filler;
    if (fit) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = v * step + thread;
        if (i < parts.vectors) word[v] = *reinterpret_cast<const uint4*>(row + parts.vector_col(i));
      }
    } else {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = v * step + thread;
        if (i >= parts.vectors) continue;
        Vec<T> vec;
#pragma unroll
        for (int j = 0; j < kVector<T>; ++j) vec[j] = row[parts.vector_col(i) + j];
        word[v] = to_word(vec);
      }
    }
  }
};

// The same as fp32, the edge's element last, with kEdge. To convert is to wait for the load: whoever reads
// two rows makes the RowBits of both before either is converted, so that all loads are under way at once.
template <class T, int kVectors, bool kEdge = true>
struct RowValues {
  static constexpr int kSize = kVectors * kVector<T> + (kEdge ? 1 : 0);
  float value[kSize];

  __device__ void load(const T* row, const RowParts<T, kEdge>& parts, bool fits, int thread, int step,
                       T filler) {
    convert(RowBits<T, kVectors>(row, parts, fits, thread, step, filler));
  }
  __device__ void convert(const RowBits<T, kVectors>& bits) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const Vec<T> vec = from_word<T>(bits.word[v]);
#pragma unroll
      for (int j = 0; j < kVector<T>; ++j) value[v * kVector<T> + j] = to_float(vec[j]);
    }
    if constexpr (kEdge) value[kSize - 1] = to_float(bits.edge);
  }

  __device__ void store(T* row, const RowParts<T, kEdge>& parts, bool fits, int thread, int step) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int i = v * step + thread;
      Vec<T> vec;
#pragma unroll
      for (int j = 0; j < kVector<T>; ++j) vec[j] = from_float<T>(value[v * kVector<T> + j]);
      if (i < parts.vectors) store_vector(row + parts.vector_col(i), vec, fits);
    }
    if (thread < parts.edge) row[parts.edge_col(thread)] = from_float<T>(value[kSize - 1]);
  }
};

// The reduction over the kThreads threads that have a row, in each of them: neighbours in a warp, or a block. One
// barrier, where they are more than a warp: the next call needs other shared memory, or a barrier between.
template <int kThreads, class U, class Op>
__device__ inline U row_reduce(U value, Op op, U (&partial)[kWarpsOf<kThreads>]) {
  if constexpr (kThreads <= kWarpSize) {
    return warp_reduce<kThreads>(value, op);
  } else {
    constexpr int kWarps = kThreads / kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    value = warp_reduce(value, op);
    if (lane == 0) partial[threadIdx.x / kWarpSize] = value;
    __syncthreads();
    return warp_reduce<kWarps>(partial[lane % kWarps], op);
  }
}

}  // namespace days
