// SPDX-License-Identifier: MIT
//
// Floats on tensor cores: mma.sync of tf32, which keeps the eight bits of a float's exponent and ten of its fraction.
// Each operand is rounded in its register, products are exact and sums are floats. Fragments of a come by ldmatrix, two
// halves of 16 bits being one float; those of b float by float, because .trans would tear floats apart. Changed since
// grouped: the type, and how b is read.
// What should bound it now: the tensor cores, at half of bfloat16's rate.
// Teaches: mma_m16n8k8_f32_tf32_tf32_f32, cvt_rn_tf32.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 256, .k = 16, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kGroup = 16;  // rows of tiles

// Every operand is rounded once, for eight or four products of 16 x 8 x 8.
struct Rounded : OneProduct {
  static constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;

  template <class T, Sizes kS>
  struct Operands : Fragments<T, kS> {
    __device__ __forceinline__ void prepare() {
#pragma unroll
      for (int i = 0; i < 4 * kM; ++i) round(this->a[i / 4][i % 4]);
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) round(this->b[j / 2][j % 2]);
    }
    __device__ __forceinline__ static void round(uint32_t& x) {
      x = days::ptx::cvt_rn_tf32(__uint_as_float(x));
    }
  };
  __device__ __forceinline__ static void add(float (&sum)[kM][kN][4], const Operands<float, kSizes>& x) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j)
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(sum[i][j], x.a[i], x.b[j], sum[i][j]);
    }
  }
};

template <bool kAny>
__global__ void __launch_bounds__(kThreads, 1)
    tf32_kernel(const Matmul<float> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<float, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  multiply_block<Rounded, kAny>(stages, Source<float>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col,
                                days::ceil_div(p.k, kSizes.k), sum);
  for_pairs(
      sum, row + warp_row<kSizes>(), col + warp_col<kSizes>(),
      [&](int down, int across, float x, float y) { store_two<kAny>(p.c, p.m, p.n, down, across, x, y); });
}

}  // namespace

void matmul_tf32(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "tf32");
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "tf32");
  constexpr int kBytes = sizeof(Stages<float, kSizes>);
  const bool whole = p.n % 4 == 0 && p.k % 4 == 0 && kAligned.holds(p);
  const auto kernel = whole ? tf32_kernel<false> : tf32_kernel<true>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.m, kSizes.m),
                                               days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

}  // namespace day66
