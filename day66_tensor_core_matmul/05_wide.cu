// SPDX-License-Identifier: MIT
//
// A warp has 64 x 64 elements of c instead of 32 x 32: 8 ldmatrix then serve 32 mma, where 4 served 8. A block of eight
// such warps has 128 x 256, so that each row of a is fetched for 256 columns and each column of b for 128 rows. Two
// sets of fragments: the next is loaded while this one is multiplied. Rows of c leave whole, through the stages' memory.
// Changed since staged: the sizes, and what else must be ready before it is needed.
// Bound by: waits, as a tensor core has two warps and idles while both wait; and power, which lowers the clock.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 256, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();

template <class T>
__global__ void __launch_bounds__(kThreads, 1) wide_kernel(const Matmul<T> p, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(memory);
  const int row = static_cast<int>(blockIdx.x) / tiles_across * kSizes.m;
  const int col = static_cast<int>(blockIdx.x) % tiles_across * kSizes.n;

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  const int tiles = days::ceil_div(p.k, kSizes.k);
  multiply_block<OneProduct, false>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col, tiles, sum);
  store_rows<false>(stages, p.c, p.m, p.n, row, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_wide(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "wide");
  days::require_needs(p, "wide", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "wide");
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const auto kernel = wide_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_wide, Matmul, days::half, days::bf16);

}  // namespace day66
