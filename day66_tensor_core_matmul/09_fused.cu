// SPDX-License-Identifier: MIT
//
// A layer of a network in one launch: a lane knows which columns its sums are in, so it fetches these columns' bias,
// adds it and cuts off what is negative in their registers, before they are rounded. Changed since grouped: what becomes
// of a sum.
// What should bound it now: the product alone.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 256, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kGroup = 16;  // rows of tiles
constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;

template <class T, bool kAny>
__global__ void __launch_bounds__(kThreads, 1)
    fused_kernel(const Linear<T> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  float sum[kM][kN][4] = {};
  multiply_block<OneProduct, kAny>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col,
                                   days::ceil_div(p.k, kSizes.k), sum);
#pragma unroll
  for (int j = 0; j < 2 * kN; ++j) {  // elements j % 2 and j % 2 + 2 of results j / 2 are in this column
    const int mine = col + warp_col<kSizes>() + j / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + j % 2;
    const float bias = mine < p.n ? days::to_float(p.bias[mine]) : 0;
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) {
      float& x = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
      x += bias;
      x = x < 0 ? 0 : x;  // NaN stays NaN, which fmaxf would lose
    }
  }
  store_rows<kAny>(stages, p.c, p.m, p.n, row, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void linear_fused(const Linear<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "fused");
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "fused");
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const bool whole = kWholeN.holds(p) && kWholeK.holds(p) && kAligned.holds(p);
  const auto kernel = whole ? fused_kernel<T, false> : fused_kernel<T, true>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.m, kSizes.m),
                                               days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(linear_fused, Linear, days::half, days::bf16);

}  // namespace day66
