// SPDX-License-Identifier: MIT
//
// The tiled product that all rungs of this day begin with, day 11's: a block of 32 x 8 threads makes a tile of c of
// 32 x 32, and each thread four elements of a column, whose sums are in registers. A piece of k is 8 long, so that a
// product with k = 8 is one piece, and so that each thread fetches one float of a and one of b for it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/problems/matmul.h"
#include "common/util.h"

namespace day10 {

inline constexpr int kTile = 32, kDepth = 8;
inline constexpr int kRows = 8, kEach = kTile / kRows;  // rows of threads; elements of c for each of them
static_assert(kRows == kDepth, "a thread fetches one float of each matrix");

inline dim3 tile_block() {
  return {kTile, kRows};
}
inline dim3 tile_grid(int m, int n) {
  return {static_cast<unsigned>(days::ceil_div(n, kTile)), static_cast<unsigned>(days::ceil_div(m, kTile))};
}

// What a thread has made: sum[j] is element (row + kRows * j, col) of a * b.
struct Sums {
  float sum[kEach];
  int64_t row, col;
};

// Every thread of the block has to call it.
__device__ inline Sums tile_product(const days::Matmul<float>& p) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int number = y * kTile + x;
  const int a_row = number / kDepth, a_col = number % kDepth;  // this thread's float of the tile of a
  const int64_t row0 = int64_t{blockIdx.y} * kTile, col = int64_t{blockIdx.x} * kTile + x;
  Sums s = {{}, row0 + y, col};
  for (int64_t step = 0; step < p.k; step += kDepth) {
    const bool in_a = row0 + a_row < p.m && step + a_col < p.k, in_b = step + y < p.k && col < p.n;
    a_tile[a_row][a_col] = in_a ? p.a[(row0 + a_row) * p.k + step + a_col] : 0.0f;
    b_tile[y][x] = in_b ? p.b[(step + y) * p.n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      for (int j = 0; j < kEach; ++j) s.sum[j] += a_tile[y + kRows * j][i] * b_tile[i][x];
    }
    __syncthreads();
  }
  return s;
}

}  // namespace day10
