// SPDX-License-Identifier: MIT
//
// Kernels of day 11 with a bug in each, which its tests must reject: what goes wrong where a tile is filled, used
// and filled again. They stay inside their buffers, so that it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

// A block has 1,024 threads, and so a thread 64 registers at most: a compiler that does not know it may take more, and then
// nothing is launched.
constexpr int kTile = 32, kThreads = kTile * kTile;

template <void (*kKernel)(Matmul<float>)>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  days::require_needs(p, "wrong", kMAlongY);
  const dim3 block(kTile, kTile), grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  kKernel<<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

struct Place {
  int x, y;
  int64_t row, col;
};
__device__ Place place_of() {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  return {x, y, int64_t{blockIdx.y} * kTile + y, int64_t{blockIdx.x} * kTile + x};
}

__device__ float of_a(const Matmul<float>& p, int64_t row, int64_t i) {
  return row < p.m && i < p.k ? p.a[row * p.k + i] : 0.0f;
}
__device__ float of_b(const Matmul<float>& p, int64_t i, int64_t col) {
  return i < p.k && col < p.n ? p.b[i * p.n + col] : 0.0f;
}
__device__ void store(const Matmul<float>& p, const Place& at, float sum) {
  if (at.row < p.m && at.col < p.n) p.c[at.row * p.n + at.col] = sum;
}

// Longer than any load takes; what is loaded behind the fence is loaded afterwards.
__device__ void hold_up() {
  const long long start = clock64();
  while (clock64() - start < 100000) {
  }
  __threadfence_block();
}

// The second barrier is missing: a warp that is done fetches the next tiles while others still use these. The first warp is held up,
// as a scheduler may do to any: else they often keep step, and nothing is wrong.
__global__ void __launch_bounds__(kThreads) no_second_barrier(Matmul<float> p) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const Place at = place_of();
  float sum = 0.0f;
  for (int64_t step = 0; step < p.k; step += kTile) {
    a_tile[at.y][at.x] = of_a(p, at.row, step + at.x);
    b_tile[at.y][at.x] = of_b(p, step + at.y, at.col);
    __syncthreads();
    if (at.y == 0) hold_up();
    for (int i = 0; i < kTile; ++i) sum += a_tile[at.y][i] * b_tile[i][at.x];
  }
  store(p, at, sum);
}
MUST_REJECT(matmul, launch<no_second_barrier>, "c[|simt-race-shared");

// Beyond k only a is filled with zeros, because zero times anything is zero: but not times infinity.
__global__ void __launch_bounds__(kThreads) zeros_in_a_alone(Matmul<float> p) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const Place at = place_of();
  float sum = 0.0f;
  for (int64_t step = 0; step < p.k; step += kTile) {
    a_tile[at.y][at.x] = of_a(p, at.row, step + at.x);
    const int64_t i = step + at.y < p.k ? step + at.y : 0;  // somewhere in b
    b_tile[at.y][at.x] = at.col < p.n ? p.b[i * p.n + (at.col + (i != step + at.y ? 1 : 0)) % p.n] : 0.0f;
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += a_tile[at.y][j] * b_tile[j][at.x];
    __syncthreads();
  }
  store(p, at, sum);
}
MUST_REJECT(matmul, launch<zeros_in_a_alone>, "c[1,0] is nan, expected");

// The tile of b is taken from the block's rows, as that of a is.
__global__ void __launch_bounds__(kThreads) same_tile_of_b(Matmul<float> p) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const Place at = place_of();
  float sum = 0.0f;
  for (int64_t step = 0; step < p.k; step += kTile) {
    a_tile[at.y][at.x] = of_a(p, at.row, step + at.x);
    b_tile[at.y][at.x] = of_b(p, step + at.y, int64_t{blockIdx.y} * kTile + at.x);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[at.y][i] * b_tile[i][at.x];
    __syncthreads();
  }
  store(p, at, sum);
}
MUST_REJECT(matmul, launch<same_tile_of_b>, "1 x 37 x 70: c[0,32] is");

// The sum starts anew with each tile: only the last one counts.
__global__ void __launch_bounds__(kThreads) last_tile_alone(Matmul<float> p) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const Place at = place_of();
  float sum = 0.0f;
  for (int64_t step = 0; step < p.k; step += kTile) {
    a_tile[at.y][at.x] = of_a(p, at.row, step + at.x);
    b_tile[at.y][at.x] = of_b(p, step + at.y, at.col);
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < kTile; ++i) sum += a_tile[at.y][i] * b_tile[i][at.x];
    __syncthreads();
  }
  store(p, at, sum);
}
MUST_REJECT(matmul, launch<last_tile_alone>, "1 x 37 x 70: c[0,0] is");

// Sums rounded to half after each tile.
__global__ void __launch_bounds__(kThreads) half_sums(Matmul<float> p) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const Place at = place_of();
  float sum = 0.0f;
  for (int64_t step = 0; step < p.k; step += kTile) {
    a_tile[at.y][at.x] = of_a(p, at.row, step + at.x);
    b_tile[at.y][at.x] = of_b(p, step + at.y, at.col);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[at.y][i] * b_tile[i][at.x];
    sum = __uint_as_float((__float_as_uint(sum) + 0x1000u) & 0xffffe000u);
    __syncthreads();
  }
  store(p, at, sum);
}
MUST_REJECT(matmul, launch<half_sums>, "1 x 1 x 1: c[0,0] is -1.29882812, expected -1.29865003");

// A thread makes one element of a tile of 64 x 64, as if the tile were no larger than the block.
__global__ void __launch_bounds__(kThreads) one_element_each(TiledMatmul<float> p) {
  const int64_t row = int64_t{blockIdx.y} * p.tile + threadIdx.y,
                col = int64_t{blockIdx.x} * p.tile + threadIdx.x;
  if (row >= p.m || col >= p.n) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[row * p.k + i] * p.b[int64_t{i} * p.n + col];
  p.c[row * p.n + col] = sum;
}

}  // namespace

void one_of_many(const TiledMatmul<float>& p, cudaStream_t stream) {
  days::require_needs(p, "one_of_many", kSomeTile, kWholeTile, kFittingTile, kMAlongY);
  const dim3 block(kTile, kTile), grid(days::ceil_div(p.n, p.tile), days::ceil_div(p.m, p.tile));
  one_element_each<<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(by_tile, one_of_many, "65 x 67 x 20 x 64: c[0,32] is nan");

}  // namespace day11
