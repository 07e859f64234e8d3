// SPDX-License-Identifier: MIT
//
// Four places for tiles. While one pair is multiplied the next three are on their way: cp.async copies 16 bytes from
// global to shared memory past the registers and does not make the thread wait. One barrier a tile says both that it
// has landed and that all are done with the one before. Changed since swizzled: when tiles are asked for.
// Bound by: shared memory, one ldmatrix for two mma; and every tile is fetched for only 64 rows or columns of c.
// Teaches: cp_async_cg, cp_async_commit_group, cp_async_wait_group.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/tensor.cuh"

namespace day66 {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kTile = 64, kDepth = 32;  // of c, a block; of k, a tile of a or b
constexpr int kStages = 4;

template <class T>
struct Stage {
  Tile<T, kTile, kDepth> a;
  Tile<T, kDepth, kTile> b;
};

template <class T>
__global__ void __launch_bounds__(kThreads) staged_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Stage<T> stages[kStages];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize;
  const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kTile;
  const int first_col = static_cast<int>(blockIdx.x) % tiles_across * kTile;
  const int warp_row = thread / 64 * 32, warp_col = thread / 32 % 2 * 32;  // within the block's tile

  // Starts the copies of tile number t, and makes them a group: an empty one behind the last tile, so that the number
  // of groups says which tile has landed. 0 source bytes become zeros, and nothing is read.
  const int tiles = days::ceil_div(p.k, kDepth);
  const auto fetch = [&](int t) {
    if (t < tiles) {
      Stage<T>& stage = stages[t % kStages];
      for (int i = thread; i < kTile * kDepth / 8; i += kThreads) {
        const int row = i / (kDepth / 8), chunk = i % (kDepth / 8);
        const bool inside = first_row + row < p.m && t * kDepth + chunk * 8 < p.k;
        const T* from = p.a + int64_t{first_row + row} * p.k + t * kDepth + chunk * 8;
        days::ptx::cp_async_cg(stage.a.at(row, chunk), from, inside ? 16 : 0);
      }
      for (int i = thread; i < kDepth * kTile / 8; i += kThreads) {
        const int row = i / (kTile / 8), chunk = i % (kTile / 8);
        const bool inside = t * kDepth + row < p.k && first_col + chunk * 8 < p.n;
        const T* from = p.b + int64_t{t * kDepth + row} * p.n + first_col + chunk * 8;
        days::ptx::cp_async_cg(stage.b.at(row, chunk), from, inside ? 16 : 0);
      }
    }
    days::ptx::cp_async_commit_group();
  };
  for (int t = 0; t < kStages - 1; ++t) fetch(t);

  float sum[2][4][4] = {};
  for (int t = 0; t < tiles; ++t) {
    days::ptx::cp_async_wait_group<kStages - 2>();  // this thread's part of tile t is here
    __syncthreads();  // all of it is here, and all are done with tile t - 1, whose place is filled next
    fetch(t + kStages - 1);
    Stage<T>& stage = stages[t % kStages];
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        days::ptx::ldmatrix(a[i], stage.a.at(warp_row + 16 * i + lane % 16, 2 * k + lane / 16));
        days::ptx::ldmatrix<true>(b[i], stage.b.at(16 * k + lane % 16, warp_col / 8 + 2 * i + lane / 16));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply_add<T>(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
  store_pairs(p, sum, first_row + warp_row, first_col + warp_col);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_staged(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "staged");
  days::require_needs(p, "staged", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kTile, kTile, "staged");
  staged_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kTile));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_staged, Matmul, days::half, days::bf16);

}  // namespace day66
