// SPDX-License-Identifier: MIT
// A thread's columns, the same ones in every row: what it knows of a column (gamma, beta, a sum over the rows)
// stays in its registers from row to row.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/types.h"
#include "common/vector.cuh"
#include "day12_layer_norm/moments.cuh"

namespace day12 {

template <class T>
inline constexpr int kVector = days::Vec<T>::kSize;  // elements in 16 bytes

// A row is spread over kThreads threads, each of which has kElements of it in groups of kWidth. Thread t's group
// g begins at column (g * kThreads + t) * kWidth, so that a warp's load of its g-th groups is contiguous. Where
// every row begins at a multiple of 16 bytes and has whole vectors only (kWide), a group is a vector of 16
// bytes, else one element. Columns beyond the row are read as 0 and not written.
template <class T, int kThreads, int kElements, bool kWide>
struct Share {
  static constexpr int kWidth = kWide ? kVector<T> : 1, kGroups = kElements / kWidth;
  static_assert(kElements % kWidth == 0);
  using Word = std::conditional_t<kWide, uint4, T>;

  Word word[kGroups];  // as it comes from memory: to take it apart is to wait for the load

  __device__ static int first(int group, int thread) { return (group * kThreads + thread) * kWidth; }

  __device__ void load(const T* row, int thread, int cols) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int col = first(g, thread);
      word[g] = col < cols ? *reinterpret_cast<const Word*>(row + col) : Word{};
    }
  }
  __device__ float operator[](int i) const {
    if constexpr (kWide) {
      return days::to_float(days::from_word<T>(word[i / kWidth])[i % kWidth]);
    } else {
      return days::to_float(word[i]);
    }
  }
  __device__ void floats(float (&value)[kElements]) const {
#pragma unroll
    for (int i = 0; i < kElements; ++i) value[i] = (*this)[i];
  }

  // Written data is not read again here: it leaves the caches first.
  __device__ static void store(T* row, const float (&value)[kElements], int thread, int cols) {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int col = first(g, thread);
      if (col >= cols) continue;
      if constexpr (kWide) {
        days::Vec<T> vec;
#pragma unroll
        for (int j = 0; j < kWidth; ++j) vec[j] = days::from_float<T>(value[g * kWidth + j]);
        days::store16_streaming(row + col, vec);
      } else {
        row[col] = days::from_float<T>(value[g]);
      }
    }
  }

  // How many of the row's columns the kLanes threads from `leader` on have.
  template <int kLanes>
  __device__ static int columns_of(int leader, int cols) {
    int count = 0;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) count += max(0, min(kLanes * kWidth, cols - first(g, leader)));
    return count;
  }

  // Of the columns that kLanes neighbouring lanes have, in each of them: the mean first, then the squares of the
  // distances from it. The second pass costs no read, as the row is in registers.
  template <int kLanes>
  __device__ static Moments moments(const float (&value)[kElements], int thread, int cols) {
    Moments m;
    m.n = static_cast<float>(columns_of<kLanes>(thread / kLanes * kLanes, cols));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kElements; ++i) sum += value[i];
    sum = days::warp_reduce<kLanes>(sum, days::Sum{});
    m.mean = m.n > 0 ? sum / m.n : 0;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const float distance = value[i] - m.mean;
      if (first(i / kWidth, thread) < cols) m.m2 += distance * distance;
    }
    m.m2 = days::warp_reduce<kLanes>(m.m2, days::Sum{});
    return m;
  }
};

// Whether all rows of these matrices, and these vectors over the columns, are whole 16-byte vectors.
template <class T, class... Pointers>
bool whole_vectors(int cols, const Pointers*... pointers) {
  return cols % kVector<T> == 0 && days::aligned16(pointers...);
}

// The moments of a block's warps as one, in every thread. One barrier: the next call needs other shared memory,
// or a barrier between.
template <int kWarps>
__device__ inline Moments merge_warps(const Moments& of_warp, Moments (&shared)[kWarps]) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  if (lane == 0) shared[threadIdx.x / days::kWarpSize] = of_warp;
  __syncthreads();
  return merge_lanes<kWarps>(shared[lane % kWarps]);
}

}  // namespace day12
