// SPDX-License-Identifier: MIT
//
// Tiles are swizzled: a row keeps its 16 bytes number c at c ^ key, with another key for each of the eight rows that
// one ldmatrix wants together, so that these lie in all 32 banks. Changed since mma: where the tiles' chunks lie.
// Bound by: a tile that is waited for while nothing is multiplied.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/tensor.cuh"

namespace day66 {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kTile = 64, kDepth = 32;  // of c, a block; of k, a tile of a or b

template <class T>
struct Shared {
  Tile<T, kTile, kDepth> a;
  Tile<T, kDepth, kTile> b;
};

template <class T>
__global__ void __launch_bounds__(kThreads) swizzled_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Shared<T> shared;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize;
  const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kTile;
  const int first_col = static_cast<int>(blockIdx.x) % tiles_across * kTile;
  const int warp_row = thread / 64 * 32, warp_col = thread / 32 % 2 * 32;  // within the block's tile

  float sum[2][4][4] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDepth) {
    __syncthreads();  // all are done with the tiles that were here
    for (int i = thread; i < kTile * kDepth / 8; i += kThreads) {
      const int row = i / (kDepth / 8), chunk = i % (kDepth / 8);
      const T* from = p.a + int64_t{first_row + row} * p.k + k0 + chunk * 8;
      *reinterpret_cast<uint4*>(shared.a.at(row, chunk)) = first_row + row < p.m && k0 + chunk * 8 < p.k
                                                               ? *reinterpret_cast<const uint4*>(from)
                                                               : make_uint4(0, 0, 0, 0);
    }
    for (int i = thread; i < kDepth * kTile / 8; i += kThreads) {
      const int row = i / (kTile / 8), chunk = i % (kTile / 8);
      const T* from = p.b + int64_t{k0 + row} * p.n + first_col + chunk * 8;
      *reinterpret_cast<uint4*>(shared.b.at(row, chunk)) = k0 + row < p.k && first_col + chunk * 8 < p.n
                                                               ? *reinterpret_cast<const uint4*>(from)
                                                               : make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        days::ptx::ldmatrix(a[i], shared.a.at(warp_row + 16 * i + lane % 16, 2 * k + lane / 16));
        days::ptx::ldmatrix<true>(b[i], shared.b.at(16 * k + lane % 16, warp_col / 8 + 2 * i + lane / 16));
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
void matmul_swizzled(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "swizzled");
  days::require_needs(p, "swizzled", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kTile, kTile, "swizzled");
  swizzled_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kTile));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_swizzled, Matmul, days::half, days::bf16);

}  // namespace day66
