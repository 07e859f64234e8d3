// SPDX-License-Identifier: MIT
//
// Matrix units the short way: nvcuda::wmma. A block of four warps has 64 x 64 elements of c, a warp 32 x 32 of them as
// two by two fragments of 16 x 16. Tiles of a and b pass through shared memory, an element at a time and with zeros
// beyond the edge, so that every m, n, k and pointer is taken. What a fragment's elements are wmma does not say: to be
// rounded to T and guarded at the edge, c must pass through shared memory as well.
// Bound by: loads of two bytes, and a tile that is waited for while nothing is multiplied.
// Teaches: wmma::load_matrix_sync, wmma::mma_sync, wmma::store_matrix_sync.

#include <mma.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kTile = 64, kDepth = 32;  // of c, a block; of k, a tile of a or b

// Before compute capability 8.0 there are no fragments of bfloat16.
#if defined(__SIMT__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class T>
constexpr bool kMultiplied = true;
#else
template <class T>
constexpr bool kMultiplied = std::is_same_v<T, days::half>;
#endif

template <class T>
struct alignas(32) Shared {
  T a[kTile][kDepth];
  T b[kDepth][kTile];
  float c[kTile][kTile];
};

template <class T>
__global__ void __launch_bounds__(kThreads) wmma_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Shared<T> shared;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / days::kWarpSize;
  const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kTile;
  const int first_col = static_cast<int>(blockIdx.x) % tiles_across * kTile;
  const int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;  // within the block's tile

  if constexpr (kMultiplied<T>) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (auto& row : sum)
      for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);

    for (int k0 = 0; k0 < p.k; k0 += kDepth) {
      __syncthreads();  // all are done with the tiles that were here
      for (int i = thread; i < kTile * kDepth; i += kThreads) {
        const int row = i / kDepth, col = i % kDepth;
        shared.a[row][col] = first_row + row < p.m && k0 + col < p.k
                                 ? p.a[int64_t{first_row + row} * p.k + k0 + col]
                                 : days::from_float<T>(0);
      }
      for (int i = thread; i < kDepth * kTile; i += kThreads) {
        const int row = i / kTile, col = i % kTile;
        shared.b[row][col] = k0 + row < p.k && first_col + col < p.n
                                 ? p.b[int64_t{k0 + row} * p.n + first_col + col]
                                 : days::from_float<T>(0);
      }
      __syncthreads();
      for (int k = 0; k < kDepth; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> b[2];
        for (int i = 0; i < 2; ++i) {
          wmma::load_matrix_sync(a[i], &shared.a[warp_row + 16 * i][k], kDepth);
          wmma::load_matrix_sync(b[i], &shared.b[k][warp_col + 16 * i], kTile);
        }
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
      }
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        wmma::store_matrix_sync(&shared.c[warp_row + 16 * i][warp_col + 16 * j], sum[i][j], kTile,
                                wmma::mem_row_major);
      }
    }
    __syncthreads();
    for (int i = thread; i < kTile * kTile; i += kThreads) {
      const int row = i / kTile, col = i % kTile;
      if (first_row + row < p.m && first_col + col < p.n) {
        p.c[int64_t{first_row + row} * p.n + first_col + col] = days::from_float<T>(shared.c[row][col]);
      }
    }
  }
}

}  // namespace

template <class T>
requires Half<T>
void matmul_wmma(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "wmma");
  const unsigned blocks = tile_blocks(p.m, p.n, kTile, kTile, "wmma");
  wmma_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kTile));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_wmma, Matmul, days::half, days::bf16);

}  // namespace day66
