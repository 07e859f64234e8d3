// SPDX-License-Identifier: MIT
//
// Which tile of c a block takes. The blocks that run together fetch from L2 what they share; in groups of sixteen rows
// of tiles they lie in a square, whose rows and columns are half as long together as those of a strip. And every m, n
// and k: where rows are no whole 16 bytes or begin between, elements come one by one. Changed since wide: the order of
// blocks, and what is taken.
// Bound by: what binds wide, waits and power.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 256, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kGroup = 16;  // rows of tiles

template <class T, bool kAny>
__global__ void __launch_bounds__(kThreads, 1)
    grouped_kernel(const Matmul<T> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  const int tiles = days::ceil_div(p.k, kSizes.k);
  multiply_block<OneProduct, kAny>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col, tiles, sum);
  store_rows<kAny>(stages, p.c, p.m, p.n, row, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_grouped(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "grouped");
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "grouped");
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const bool whole = kWholeN.holds(p) && kWholeK.holds(p) && kAligned.holds(p);
  const auto kernel = whole ? grouped_kernel<T, false> : grouped_kernel<T, true>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.m, kSizes.m),
                                               days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_grouped, Matmul, days::half, days::bf16);

}  // namespace day66
