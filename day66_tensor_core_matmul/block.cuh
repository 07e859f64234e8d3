// SPDX-License-Identifier: MIT
//
// What rungs after `wide` share: a block's product, and how its sums leave. It is wide's, with any element type and any
// sizes of tiles.
#pragma once

#include <cstdint>

#include "common/ptx.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/tensor.cuh"

namespace day66 {

// Of a block's tile: rows and columns of c, and how much of k a stage holds; of a warp's part of it; and the stages.
struct Sizes {
  int m, n, k, warp_m, warp_n, stages;

  DAYS_HOST_DEVICE constexpr int threads() const { return m / warp_m * (n / warp_n) * days::kWarpSize; }
};

// A row-major matrix in global memory.
template <class T>
struct Source {
  const T* data;
  int rows, cols;
};

// Bytes come with b by columns: each is a row of its tile, and of its source.
template <class T>
inline constexpr bool kByColumns = sizeof(T) == 1;

template <class T, Sizes kS>
struct Stage {
  Tile<T, kS.m, kS.k> a;
  Tile<T, kByColumns<T> ? kS.n : kS.k, kByColumns<T> ? kS.k : kS.n> b;
};
template <class T, Sizes kS>
struct Stages {
  Stage<T, kS> stage[kS.stages];
};

// A tile's rows from `row` and columns from `col` on, by the whole block; zeros beyond the edge, and everywhere where
// nothing is `wanted`. kAny: of rows that begin anywhere, so that elements come one by one and the thread waits for
// them; else by cp.async, which it does not.
template <int kThreads, bool kAny, class T, int kRows, int kCols>
__device__ __forceinline__ void fetch_tile(Tile<T, kRows, kCols>& tile, const Source<T>& from, int row,
                                           int col, bool wanted) {
  constexpr int kChunks = Tile<T, kRows, kCols>::kChunks, kPer = Tile<T, kRows, kCols>::kPer;
  constexpr int kStep = kThreads / kChunks;  // rows
  static_assert(kThreads % kChunks == 0 && kRows % kStep == 0,
                "each thread has a chunk of every kStep-th row");
  const int mine = static_cast<int>(threadIdx.x) / kChunks, chunk = static_cast<int>(threadIdx.x) % kChunks;
  const int left = from.cols - col - chunk * kPer;  // elements from this chunk on
  const T* source = from.data + int64_t{row + mine} * from.cols + col + chunk * kPer;
  if constexpr (kAny) {
#pragma unroll 1
    for (int down = 0; down < kRows; down += kStep) {
      const bool inside = row + mine + down < from.rows;
      alignas(16) T elements[kPer];
#pragma unroll
      for (int i = 0; i < kPer; ++i)
        elements[i] = inside && i < left ? source[int64_t{down} * from.cols + i] : T(0.0f);
      *reinterpret_cast<uint4*>(tile.at(mine + down, chunk)) = *reinterpret_cast<const uint4*>(elements);
    }
  } else {
#pragma unroll
    for (int down = 0; down < kRows; down += kStep) {
      const bool inside = wanted && row + mine + down < from.rows && left > 0;
      days::ptx::cp_async_cg(tile.at(mine + down, chunk), source + int64_t{down} * from.cols,
                             inside ? 16 : 0);
    }
  }
}

// What a warp needs of one step of 32 bytes along k.
template <class T, Sizes kS>
struct Fragments {
  uint32_t a[kS.warp_m / 16][4], b[kS.warp_n / 8][2];

  // Of the warp's rows from `row` and columns from `col` on in the stage's tiles.
  __device__ __forceinline__ void load(Stage<T, kS>& stage, int row, int col, int step) {
    static_assert(kS.warp_n == 64 || sizeof(T) == 4, "a warp's columns of b begin at a chunk that 8 divides");
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
    for (int i = 0; i < kS.warp_m / 16; ++i)
      days::ptx::ldmatrix(a[i], stage.a.at(row + lane % 16, lane / 16, 2 * step, 16 * i));
#pragma unroll
    for (int j = 0; j < kS.warp_n / 8; j += 2) {
      if constexpr (sizeof(T) == 4) {  // .trans would tear floats apart, so each lane reads its own
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = j + i / 2;  // a fragment, two chunks wide
          b[at][i % 2] = __float_as_uint(stage.b.at(lane % 4, col / 4 + lane / 16, at % 4 * 2,
                                                    8 * step + 4 * (i % 2))[at / 4 * 32 + lane / 4 % 4]);
        }
      } else {
        uint32_t two[4];
        if constexpr (kByColumns<T>) {
          days::ptx::ldmatrix(two, stage.b.at(col + lane / 16 * 8 + lane % 8, lane / 8 % 2, 2 * step, 8 * j));
        } else {
          days::ptx::ldmatrix<true>(two, stage.b.at(lane % 16, col / 8 + lane / 16, j, 16 * step));
        }
        b[j][0] = two[0];
        b[j][1] = two[1];
        b[j + 1][0] = two[2];
        b[j + 1][1] = two[3];
      }
    }
  }
};

// What is multiplied: fragments as they come, one product for each of the warp's results. Other rungs make something of
// the fragments first.
struct OneProduct {
  static constexpr bool kFetchesLast = false;

  template <class T, Sizes kS>
  struct Operands : Fragments<T, kS> {
    __device__ __forceinline__ void prepare() {}
  };
  template <class T, Sizes kS, class Sum>
  __device__ __forceinline__ static void add(Sum (&sum)[kS.warp_m / 16][kS.warp_n / 8][4],
                                             const Operands<T, kS>& f) {
#pragma unroll
    for (int i = 0; i < kS.warp_m / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kS.warp_n / 8; ++j) multiply_add<T>(sum[i][j], f.a[i], f.b[j][0], f.b[j][1]);
    }
  }
};

// Where a warp's part lies in its block's tile.
template <Sizes kS>
__device__ __forceinline__ int warp_row() {
  return static_cast<int>(threadIdx.x) / days::kWarpSize / (kS.n / kS.warp_n) * kS.warp_m;
}
template <Sizes kS>
__device__ __forceinline__ int warp_col() {
  return static_cast<int>(threadIdx.x) / days::kWarpSize % (kS.n / kS.warp_n) * kS.warp_n;
}

// sum += a * b for the block's tile at `row` and `col` of c, over the stages `first` to `last` - 1 of k. The next step's
// fragments are loaded before this step's products, and made into operands after them, so that nvcc can put the
// instructions of both between those of the products. With kFetchesLast so can it those of the copies: they are asked for
// after the first step's products, and without a branch. In the end the stages' memory is free.
template <class Product, bool kAny, class T, Sizes kS, class Sum>
__device__ __forceinline__ void multiply_block(Stages<T, kS>& stages, const Source<T>& a, const Source<T>& b,
                                               int row, int col, int first, int last,
                                               Sum (&sum)[kS.warp_m / 16][kS.warp_n / 8][4]) {
  constexpr int kThreads = kS.threads(), kSteps = kS.k * static_cast<int>(sizeof(T)) / 32;
  constexpr bool kBranchless = Product::kFetchesLast && !kAny;
  static_assert(kSteps % 2 == 0, "the two sets of operands take turns");
  const int my_row = warp_row<kS>(), my_col = warp_col<kS>();
  const auto stage_of = [&](int t) -> Stage<T, kS>& { return stages.stage[t % kS.stages]; };
  const auto fetch = [&](int t) {
    const bool wanted = t < last;
    if (kBranchless || wanted) {
      const int k = wanted ? t * kS.k : 0;
      fetch_tile<kThreads, kAny>(stage_of(t).a, a, row, k, wanted);
      if constexpr (kByColumns<T>) {
        fetch_tile<kThreads, kAny>(stage_of(t).b, b, col, k, wanted);
      } else {
        fetch_tile<kThreads, kAny>(stage_of(t).b, b, k, col, wanted);
      }
    }
    days::ptx::cp_async_commit_group();
  };
  for (int t = first; t < first + kS.stages - 1; ++t) fetch(t);
  days::ptx::cp_async_wait_group<kS.stages - 2>();
  __syncthreads();
  typename Product::template Operands<T, kS> operands[2];
  operands[0].load(stage_of(first), my_row, my_col, 0);
  operands[0].prepare();
  for (int t = first; t < last; ++t) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      auto& next = operands[(step + 1) % 2];
      if (step == kSteps - 1) {
        days::ptx::cp_async_wait_group<kS.stages - 2>();
        __syncthreads();  // stage t + 1 is here, and nobody reads stage t from shared memory any more
        if (kBranchless || t + 1 < last) next.load(stage_of(t + 1), my_row, my_col, 0);
      } else {
        next.load(stage_of(t), my_row, my_col, step + 1);
      }
      if (step == 0 && !kBranchless) fetch(t + kS.stages - 1);  // where stage t - 1 was
      Product::add(sum, operands[step % 2]);
      if (step == 0 && kBranchless) fetch(t + kS.stages - 1);
      next.prepare();
    }
  }
  if constexpr (kBranchless) days::ptx::cp_async_wait_group<0>();  // for copies of nothing, which write zeros
  __syncthreads();  // for kBranchless: else the last step's barrier is behind all reads and copies
}

// Calls store(row, col, low, high) for each two neighbours that the lane has of a warp's tile at `row` and `col` of c.
template <class Sum, int kM, int kN, class Store>
__device__ __forceinline__ void for_pairs(const Sum (&sum)[kM][kN][4], int row, int col, const Store& store) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int i = 0; i < 2 * kM; ++i) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      store(row + i / 2 * 16 + i % 2 * 8 + lane / 4, col + 8 * j + lane % 4 * 2, sum[i / 2][j][i % 2 * 2],
            sum[i / 2][j][i % 2 * 2 + 1]);
    }
  }
}

// The same two as one store of 8 bytes, which of four lanes is a whole sector; kAny: each by itself.
template <bool kAny, class C>
__device__ __forceinline__ void store_two(C* c, int m, int n, int row, int col, C low, C high) {
  if (row >= m || col >= n) return;
  C* const to = c + int64_t{row} * n + col;
  if constexpr (kAny) {
    to[0] = low;
    if (col + 1 < n) to[1] = high;
  } else {
    using Two = std::conditional_t<std::is_same_v<C, float>, float2, int2>;
    Two two;
    two.x = low;
    two.y = high;
    *reinterpret_cast<Two*>(to) = two;
  }
}

// A warp's sums, rounded to T, by way of shared memory of the stages that nobody uses any more: whole rows leave, 16
// bytes a lane.
template <bool kAny, class T, Sizes kS>
__device__ __forceinline__ void store_rows(Stages<T, kS>& stages, T* c, int m, int n, int row, int col,
                                           const float (&sum)[kS.warp_m / 16][kS.warp_n / 8][4]) {
  using Part = Tile<T, kS.warp_m, kS.warp_n>;
  static_assert(kS.threads() / days::kWarpSize * sizeof(Part) <= sizeof stages, "all warps' parts fit");
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  Part& part = reinterpret_cast<Part*>(&stages)[threadIdx.x / days::kWarpSize];
  row += warp_row<kS>();
  col += warp_col<kS>();
  for_pairs(sum, 0, 0, [&](int down, int across, float low, float high) {
    *reinterpret_cast<uint32_t*>(part.at(down, across / 8) + across % 8) = pack<T>(low, high);
  });
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kS.warp_m * Part::kChunks; i += days::kWarpSize) {
    const int down = (i + lane) / Part::kChunks, chunk = (i + lane) % Part::kChunks;
    const int at = col + chunk * 8;
    if (row + down >= m || at >= n) continue;
    T* const to = c + int64_t{row + down} * n + at;
    if constexpr (kAny) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        if (at + e < n) to[e] = part.at(down, chunk)[e];
      }
    } else {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(part.at(down, chunk));
    }
  }
}

// Blocks in the order of rows of c would want all columns of b for each few rows of a. Taken in groups of kGroup rows of
// tiles, column by column, those that run at the same time want a square of c, and so less of a and b together.
struct Place {
  int row, col;  // of tiles
};
template <int kGroup>
__device__ __forceinline__ Place grouped_place(int block, int down, int across) {
  const int first = block / (kGroup * across) * kGroup, rest = block % (kGroup * across);
  const int height = min(kGroup, down - first);
  return {first + rest % height, rest / height};
}

}  // namespace day66
