// SPDX-License-Identifier: MIT
//
// fp32 from tensor cores. A float is split into the nearest tf32, `big`, and what is left, `small`: 11 bits each of its
// 24. Of the four products of such halves three are made, small times small being too small to matter. They meet in a
// sum of their own, which starts at 0 every eighth of k and is added to the long sum by the ordinary adders, because
// tensor cores cut off what they add where these round. Changed since tf32: three products for one, who adds, and two
// blocks of four warps, which do not wait for each other's barriers, in place of one of eight.
// What should bound it now: the tensor cores, at a third of tf32's rate, and the instructions that come with them.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 64, .n = 128, .k = 16, .warp_m = 64, .warp_n = 32, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kGroup = 16;  // rows of tiles

// x = big + small: the nearest tf32, and the rest, which is exact and has at most 12 bits. Of these the tensor cores cut
// off the last.
__device__ __forceinline__ void split(uint32_t& x, uint32_t& small) {
  const uint32_t big = days::ptx::cvt_rn_tf32(__uint_as_float(x));
  small = __float_as_uint(__uint_as_float(x) - __uint_as_float(big));
  x = big;
}

struct ThreeProducts {
  static constexpr bool kFetchesLast = true;
  static constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;

  template <class T, Sizes kS>
  struct Operands : Fragments<T, kS> {  // big
    uint32_t small_a[kM][4], small_b[kN][2];

    __device__ __forceinline__ void prepare() {
#pragma unroll
      for (int i = 0; i < 4 * kM; ++i) split(this->a[i / 4][i % 4], small_a[i / 4][i % 4]);
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) split(this->b[j / 2][j % 2], small_b[j / 2][j % 2]);
    }
  };
  __device__ __forceinline__ static void add(float (&sum)[kM][kN][4], const Operands<float, kSizes>& x) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
      float part[kN][4] = {};  // the smallest first; kN products on their way before one needs its own result
#pragma unroll
      for (int j = 0; j < kN; ++j)
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], x.small_a[i], x.b[j], part[j]);
#pragma unroll
      for (int j = 0; j < kN; ++j)
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], x.a[i], x.small_b[j], part[j]);
#pragma unroll
      for (int j = 0; j < kN; ++j) days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(part[j], x.a[i], x.b[j], part[j]);
#pragma unroll
      for (int j = 0; j < 4 * kN; ++j) sum[i][j / 4][j % 4] += part[j / 4][j % 4];
    }
  }
};

// Infinity is big and leaves NaN, and so does a float beyond the largest tf32; infinity times a small of 0 is NaN.
// A sum that is no number is therefore made again, product by product.
__device__ __noinline__ float sum_again(const Matmul<float>& p, int row, int col) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  return sum;
}

template <bool kAny>
__global__ void __launch_bounds__(kThreads, 2)
    three_kernel(const Matmul<float> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<float, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  multiply_block<ThreeProducts, kAny>(stages, Source<float>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col, 0,
                                      days::ceil_div(p.k, kSizes.k), sum);
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
