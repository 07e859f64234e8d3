// SPDX-License-Identifier: MIT
//
// For compute capability 7.5 (T4), whose tensor cores take half alone, 16 x 8 x 8 an instruction, and which has no
// cp.async. The next tile waits in registers instead: it is asked for before this one is multiplied, and written to the
// other of two stages after. Tensor cores cut off what they add, so that a sum of 8,192 products, 1,024 additions of
// eight, drifts towards zero: each 16 of k have a sum of their own, and ordinary additions, which round, join these.
// Changed since staged: the instruction, who holds the next tile, who adds, and warps of 64 x 64.
// What should bound it now: the tensor cores; loads wait no longer than a tile is multiplied.
// Teaches: mma_m16n8k8_f32_f16_f16_f32.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

using T = days::half;
constexpr Sizes kSizes = {.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 2};
constexpr int kThreads = kSizes.threads(), kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;

// A thread's share of a tile, on its way.
template <class Tile>
struct Held {
  static constexpr int kStep = kThreads / Tile::kChunks;  // rows
  uint4 part[Tile::kRows / kStep];

  __device__ __forceinline__ void fetch(const Source<T>& from, int row, int col) {
    row += static_cast<int>(threadIdx.x) / Tile::kChunks;
    col += static_cast<int>(threadIdx.x) % Tile::kChunks * Tile::kPer;
#pragma unroll
    for (int i = 0; i < Tile::kRows / kStep; ++i) {
      const T* const source = from.data + int64_t{row + i * kStep} * from.cols + col;
      part[i] = row + i * kStep < from.rows && col < from.cols ? *reinterpret_cast<const uint4*>(source)
                                                               : make_uint4(0, 0, 0, 0);
    }
  }
  __device__ __forceinline__ void put(Tile& tile) const {
    const int row = static_cast<int>(threadIdx.x) / Tile::kChunks;
#pragma unroll
    for (int i = 0; i < Tile::kRows / kStep; ++i)
      *reinterpret_cast<uint4*>(tile.at(row + i * kStep, threadIdx.x % Tile::kChunks)) = part[i];
  }
};

__global__ void __launch_bounds__(kThreads, 2) turing_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Stages<T, kSizes> stages;
  const int row = static_cast<int>(blockIdx.x) / tiles_across * kSizes.m;
  const int col = static_cast<int>(blockIdx.x) % tiles_across * kSizes.n;
  const Source<T> a = {p.a, p.m, p.k}, b = {p.b, p.k, p.n};

  Held<decltype(stages.stage[0].a)> held_a;
  Held<decltype(stages.stage[0].b)> held_b;
  held_a.fetch(a, row, 0);
  held_b.fetch(b, 0, col);
  float sum[kM][kN][4] = {};
  const int tiles = days::ceil_div(p.k, kSizes.k);
  for (int t = 0; t < tiles; ++t) {
    Stage<T, kSizes>& stage = stages.stage[t % 2];
    held_a.put(stage.a);
    held_b.put(stage.b);
    if (t + 1 < tiles) {
      held_a.fetch(a, row, (t + 1) * kSizes.k);
      held_b.fetch(b, (t + 1) * kSizes.k, col);
    }
    __syncthreads();  // tile t is here, and all are done with tile t - 1, whose stage tile t + 1 gets
#pragma unroll 1
    for (int step = 0; step < kSizes.k / 16; ++step) {
      Fragments<T, kSizes> f;
      f.load(stage, warp_row<kSizes>(), warp_col<kSizes>(), step);
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        float part[kM][4] = {};  // what tensor cores add up: 16 of k, and no more
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int i = 0; i < kM; ++i) {
            days::ptx::mma_m16n8k8_f32_f16_f16_f32(part[i], {f.a[i][2 * half], f.a[i][2 * half + 1]},
                                                   {f.b[j][half]}, part[i]);
          }
        }
#pragma unroll
        for (int i = 0; i < 4 * kM; ++i) sum[i / 4][j][i % 4] += part[i / 4][i % 4];
      }
    }
  }
  __syncthreads();
  store_rows<false>(stages, p.c, p.m, p.n, row, col, sum);
}

}  // namespace

void matmul_turing(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "turing");
  days::require_needs(p, "turing", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "turing");
  turing_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

}  // namespace day66
