// SPDX-License-Identifier: MIT
//
// fp32 from tensor cores. A float is split into the nearest tf32, `big`, and what is left, `small`: 11 bits each of its
// 24. Of the four products of such halves three are made, small times small being too small to matter. They meet in a
// sum of their own, `part`, which starts at 0 every 32 of k and is added to the long sum by the ordinary adders, because
// tensor cores cut off what they add where these round. Changed since tf32: three products for one, who adds, and that
// fragments of a come one by one, because two sums leave no registers for all of them.
// What should bound it now: the tensor cores, at a third of tf32's rate.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 32, .stages = 3};
constexpr int kThreads = kSizes.threads();
constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8, kSteps = kSizes.k / 8;
constexpr int kGroup = 16;  // rows of tiles. Three stages are 96 KiB, of the 99 that sm_86 has

// x = big + small: the nearest tf32, and the rest, which is exact and has at most 12 bits. Of these the tensor cores cut
// off the last.
__device__ __forceinline__ void split(uint32_t& x, uint32_t& small) {
  const uint32_t big = days::ptx::cvt_rn_tf32(__uint_as_float(x));
  small = __float_as_uint(__uint_as_float(x) - __uint_as_float(big));
  x = big;
}

// Three products for each result in a row of a warp's, the smallest first. kN of them are on their way before one needs
// the sum of another.
__device__ __forceinline__ void add_three(float (&part)[kN][4], const uint32_t (&a)[4],
                                          const uint32_t (&small_a)[4], const uint32_t (&b)[kN][2],
                                          const uint32_t (&small_b)[kN][2]) {
#pragma unroll
  for (int j = 0; j < kN; ++j) days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], small_a, b[j], part[j]);
#pragma unroll
  for (int j = 0; j < kN; ++j) days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], a, small_b[j], part[j]);
#pragma unroll
  for (int j = 0; j < kN; ++j) days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], a, b[j], part[j]);
}

// sum += a * b for the block's tile at `row` and `col` of c. A fragment of a, and all of b for a step, are loaded while
// the ones before are multiplied. Each is split where it is first needed.
template <bool kAny>
__device__ __forceinline__ void multiply_three(Stages<float, kSizes>& stages, const Matmul<float>& p, int row,
                                               int col, float (&sum)[kM][kN][4]) {
  const int my_row = warp_row<kSizes>(), my_col = warp_col<kSizes>();
  const int tiles = days::ceil_div(p.k, kSizes.k);
  const auto stage_of = [&](int t) -> Stage<float, kSizes>& { return stages.stage[t % kSizes.stages]; };
  StageCopies<float, kSizes> copies({p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col);
  for (int t = 0; t < kSizes.stages - 1; ++t) {
    if (t < tiles) copies.next<kAny>(stage_of(t));
    days::ptx::cp_async_commit_group();
  }
  days::ptx::cp_async_wait_group<kSizes.stages - 2>();
  __syncthreads();
  uint32_t a[2][4], b[2][kN][2];  // of rows i and of steps, in turns
  load_a(a[0], stage_of(0), my_row, 0, 0);
  load_b(b[0], stage_of(0), my_col, 0);
  const auto multiply_stage = [&](int t, bool fetches) {
    float part[kM][kN][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const bool last = step == kSteps - 1;
      uint32_t small_a[4], small_b[kN][2];
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) split(b[step % 2][j / 2][j % 2], small_b[j / 2][j % 2]);
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        if (i < kM - 1) load_a(a[(i + 1) % 2], stage_of(t), my_row, i + 1, step);
        if (i == kM - 2 && last) {
          days::ptx::cp_async_wait_group<kSizes.stages - 2>();
          __syncthreads();  // stage t + 1 is here, and nobody reads stage t from shared memory any more
        }
        if (!last || fetches || t + 1 < tiles) {  // there is a next step
          Stage<float, kSizes>& next = stage_of(last ? t + 1 : t);
          if (i == kM - 2) load_b(b[(step + 1) % 2], next, my_col, (step + 1) % kSteps);
          if (i == kM - 1) load_a(a[(i + 1) % 2], next, my_row, 0, (step + 1) % kSteps);
        }
        if (i == 1 && step == 0) {
          if (fetches) copies.next<kAny>(stage_of(t + kSizes.stages - 1));  // where t - 1 was
          days::ptx::cp_async_commit_group();
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) split(a[i % 2][e], small_a[e]);
        add_three(part[i], a[i % 2], small_a, b[step % 2], small_b);
        if (!last) continue;
#pragma unroll
        for (int j = 0; j < 4 * kN; ++j) sum[i][j / 4][j % 4] += part[i][j / 4][j % 4];
      }
    }
  };
  int t = 0;
#pragma unroll 1
  for (; t < tiles - (kSizes.stages - 1); ++t) multiply_stage(t, true);
#pragma unroll 1
  for (; t < tiles; ++t) multiply_stage(t, false);
}

// Infinity is big and leaves NaN, and so does a float beyond the largest tf32; infinity times a small of 0 is NaN.
// A sum that is no number is therefore made again, product by product.
__device__ __noinline__ float sum_again(const Matmul<float>& p, int row, int col) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  return sum;
}

template <bool kAny>
__global__ void __launch_bounds__(kThreads, 1)
    three_kernel(const Matmul<float> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<float, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  float sum[kM][kN][4] = {};
  multiply_three<kAny>(stages, p, row, col, sum);
  for_pairs(sum, row + warp_row<kSizes>(), col + warp_col<kSizes>(),
            [&](int down, int across, float x, float y) {
              if (down < p.m && across < p.n && !isfinite(x)) x = sum_again(p, down, across);
              if (down < p.m && across + 1 < p.n && !isfinite(y)) y = sum_again(p, down, across + 1);
              store_two<kAny>(p.c, p.m, p.n, down, across, x, y);
            });
}

}  // namespace

void matmul_three(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "three");
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "three");
  constexpr int kBytes = sizeof(Stages<float, kSizes>);
  const bool whole = p.n % 4 == 0 && p.k % 4 == 0 && kAligned.holds(p);
  const auto kernel = whole ? three_kernel<false> : three_kernel<true>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.m, kSizes.m),
                                               days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

}  // namespace day66
