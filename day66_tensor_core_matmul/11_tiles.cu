// SPDX-License-Identifier: MIT
//
// A block for each tile of c, as all rungs so far. With few elements and a long k the grid has fewer blocks than the
// GPU has multiprocessors, and most of these stand idle. Bound by: how many tiles there are.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();

template <class T>
__global__ void __launch_bounds__(kThreads, 2) tiles_kernel(const DeepMatmul<T> p, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(memory);
  const int row = static_cast<int>(blockIdx.x) / tiles_across * kSizes.m;
  const int col = static_cast<int>(blockIdx.x) % tiles_across * kSizes.n;

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  multiply_block<OneProduct, false>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col, 0,
                                    days::ceil_div(p.k, kSizes.k), sum);
  store_rows<false>(stages, p.c, p.m, p.n, row, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_tiles(const DeepMatmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "tiles");
  days::require_needs(p, "tiles", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "tiles");
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const auto kernel = tiles_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_tiles, DeepMatmul, days::half, days::bf16);

}  // namespace day66
