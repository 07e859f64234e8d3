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

template <class T, Sizes kS>
struct Stage {
  Tile<T, kS.m, kS.k> a;
  Tile<T, kS.k, kS.n> b;
};
template <class T, Sizes kS>
struct Stages {
  Stage<T, kS> stage[kS.stages];
};

// A thread's share in copying tile after tile of a matrix: of each a chunk in every kStep-th row. Its place in the matrix
// is moved from tile to tile, which costs an addition where finding it anew would cost multiplications.
template <int kThreads, class T, int kRows, int kCols>
struct Copies {
  using To = Tile<T, kRows, kCols>;
  static constexpr int kStep = kThreads / To::kChunks;  // rows
  static_assert(kThreads % To::kChunks == 0 && kRows % kStep == 0 && kStep % To::kKeys == 0,
                "each thread has a chunk of every kStep-th row, all with one key");
  const T* source;  // the first of these chunks
  int64_t pitch;
  int rows, left;  // from there to the edge: rows, and elements of a row

  // Of the tile that begins at `row` and `col`.
  __device__ __forceinline__ Copies(const Source<T>& from, int row, int col) : pitch(from.cols) {
    row += static_cast<int>(threadIdx.x) / To::kChunks;
    col += static_cast<int>(threadIdx.x) % To::kChunks * To::kPer;
    source = from.data + row * pitch + col;
    rows = from.rows - row;
    left = from.cols - col;
  }
  __device__ __forceinline__ void move(int down, int across) {
    source += down * pitch + across;
    rows -= down;
    left -= across;
  }
  // What lies beyond the edge comes as zeros. kAny: of rows that begin anywhere, so that elements come one by one and
  // the thread waits for them; else by cp.async, for which it does not wait. No branch: nvcc moves nothing across one.
  template <bool kAny>
  __device__ __forceinline__ void fetch(To& tile) const {
    const int thread = static_cast<int>(threadIdx.x);
    T* const to = tile.at(thread / To::kChunks, thread % To::kChunks);
    if constexpr (kAny) {
#pragma unroll 1
      for (int down = 0; down < kRows; down += kStep) {
        alignas(16) T elements[To::kPer];
#pragma unroll
        for (int i = 0; i < To::kPer; ++i)
          elements[i] = down < rows && i < left ? source[down * pitch + i] : T(0.0f);
        *reinterpret_cast<uint4*>(to + down * kCols) = *reinterpret_cast<const uint4*>(elements);
      }
    } else {
#pragma unroll
      for (int down = 0; down < kRows; down += kStep) {
        const bool inside = down < rows && left > 0;
        days::ptx::cp_async_cg(to + down * kCols, source + down * pitch, inside ? 16 : 0);
      }
    }
  }
};

// The same of both tiles.
template <class T, Sizes kS>
struct StageCopies {
  Copies<kS.threads(), T, kS.m, kS.k> a;
  Copies<kS.threads(), T, kS.k, kS.n> b;

  __device__ __forceinline__ StageCopies(const Source<T>& from_a, const Source<T>& from_b, int row, int col)
      : a(from_a, row, 0), b(from_b, 0, col) {}

  template <bool kAny>
  __device__ __forceinline__ void next(Stage<T, kS>& stage) {
    a.template fetch<kAny>(stage.a);
    b.template fetch<kAny>(stage.b);
    a.move(0, kS.k);
    b.move(kS.k, 0);
  }
};

// A fragment of a, 16 rows from `row` + 16 * i on, and those of b for the warp's columns from `col` on; of one step of
// 32 bytes along k.
template <class T, Sizes kS>
__device__ __forceinline__ void load_a(uint32_t (&a)[4], Stage<T, kS>& stage, int row, int i, int step) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  days::ptx::ldmatrix(a, stage.a.at(row + lane % 16, lane / 16, 2 * step, 16 * i));
}
template <class T, Sizes kS>
__device__ __forceinline__ void load_b(uint32_t (&b)[kS.warp_n / 8][2], Stage<T, kS>& stage, int col,
                                       int step) {
  static_assert(kS.warp_n == 64 || sizeof(T) == 4, "a warp's columns of b begin at a chunk that 8 divides");
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
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
      days::ptx::ldmatrix<true>(two, stage.b.at(lane % 16, col / 8 + lane / 16, j, 16 * step));
      b[j][0] = two[0];
      b[j][1] = two[1];
      b[j + 1][0] = two[2];
      b[j + 1][1] = two[3];
    }
  }
}

// What a warp needs of one step.
template <class T, Sizes kS>
struct Fragments {
  uint32_t a[kS.warp_m / 16][4], b[kS.warp_n / 8][2];

  // Of the warp's rows from `row` and columns from `col` on in the stage's tiles.
  __device__ __forceinline__ void load(Stage<T, kS>& stage, int row, int col, int step) {
#pragma unroll
    for (int i = 0; i < kS.warp_m / 16; ++i) load_a(a[i], stage, row, i, step);
    load_b(b, stage, col, step);
  }
};

// What is multiplied: fragments as they come, one product for each of the warp's results. Other rungs make something of
// the fragments first. Results come column by column, down and up again: two products in a row then always share a
// fragment, mostly b's.
struct OneProduct {
  template <class T, Sizes kS>
  struct Operands : Fragments<T, kS> {
    __device__ __forceinline__ void prepare() {}
  };
  template <class T, Sizes kS, class Sum>
  __device__ __forceinline__ static void add(Sum (&sum)[kS.warp_m / 16][kS.warp_n / 8][4],
                                             const Operands<T, kS>& f) {
    constexpr int kM = kS.warp_m / 16;
#pragma unroll
    for (int j = 0; j < kS.warp_n / 8; ++j) {
#pragma unroll
      for (int down = 0; down < kM; ++down) {
        const int i = j % 2 == 0 ? down : kM - 1 - down;
        multiply_add<T>(sum[i][j], f.a[i], f.b[j][0], f.b[j][1]);
      }
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

// sum += a * b for the block's tile at `row` and `col` of c, over the stages 0 to `last` - 1 of k. The next step's
// fragments are loaded before this step's products, and made into operands after them, so that nvcc can put the
// instructions of both, and those of the copies, between those of the products. It moves nothing across a branch: the
// last stages, behind which there is nothing to copy, have a loop of their own. In the end the stages' memory is free.
template <class Product, bool kAny, class T, Sizes kS, class Sum>
__device__ __forceinline__ void multiply_block(Stages<T, kS>& stages, const Source<T>& a, const Source<T>& b,
                                               int row, int col, int last,
                                               Sum (&sum)[kS.warp_m / 16][kS.warp_n / 8][4]) {
  constexpr int kSteps = kS.k * static_cast<int>(sizeof(T)) / 32;
  static_assert(kSteps % 2 == 0, "the two sets of operands take turns");
  const int my_row = warp_row<kS>(), my_col = warp_col<kS>();
  const auto stage_of = [&](int t) -> Stage<T, kS>& { return stages.stage[t % kS.stages]; };
  StageCopies<T, kS> copies(a, b, row, col);
  for (int t = 0; t < kS.stages - 1; ++t) {
    if (t < last) copies.template next<kAny>(stage_of(t));
    days::ptx::cp_async_commit_group();
  }
  days::ptx::cp_async_wait_group<kS.stages - 2>();
  __syncthreads();
  typename Product::template Operands<T, kS> operands[2];
  operands[0].load(stage_of(0), my_row, my_col, 0);
  operands[0].prepare();
  const auto multiply_stage = [&](int t, bool fetches) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      auto& next = operands[(step + 1) % 2];
      if (step == kSteps - 1) {
        days::ptx::cp_async_wait_group<kS.stages - 2>();
        __syncthreads();  // stage t + 1 is here, and nobody reads stage t from shared memory any more
        if (fetches || t + 1 < last) next.load(stage_of(t + 1), my_row, my_col, 0);
      } else {
        next.load(stage_of(t), my_row, my_col, step + 1);
      }
      if (step == 0) {
        if (fetches) copies.template next<kAny>(stage_of(t + kS.stages - 1));  // where stage t - 1 was
        days::ptx::cp_async_commit_group();
      }
      Product::add(sum, operands[step % 2]);
      next.prepare();
    }
  };
  int t = 0;
#pragma unroll 1
  for (; t < last - (kS.stages - 1); ++t) multiply_stage(t, true);
#pragma unroll 1
  for (; t < last; ++t) multiply_stage(t, false);
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
template <bool kAny>
__device__ __forceinline__ void store_two(float* c, int m, int n, int row, int col, float low, float high) {
  if (row >= m || col >= n) return;
  float* const to = c + int64_t{row} * n + col;
  if constexpr (kAny) {
    to[0] = low;
    if (col + 1 < n) to[1] = high;
  } else {
    *reinterpret_cast<float2*>(to) = make_float2(low, high);
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
