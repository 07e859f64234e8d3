// SPDX-License-Identifier: MIT
//
// One kernel for tiles of every size.
//
// dynamic: a tile may be larger than the block. Changed since tiled: 512 threads make a tile of 64 x 64, each
// of them several elements, whose sums lie in shared memory as well; how many is known when the kernel is
// launched. Fetched once, used 64 times. Bound by: shared memory, two loads for each multiply-add as before.
// Teaches: extern __shared__, cudaFuncSetAttribute.
//
// picked: the largest tile with which the device is still full. Changed since dynamic: the launcher asks how
// many blocks of a tile a multiprocessor holds. Bound by: the same.
// Teaches: cudaOccupancyMaxActiveBlocksPerMultiprocessor.
//
// by_hand: the tile is a number of the problem, to try others: --size 384x384x128x96.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

constexpr int kLanes = 32, kRows = 16;  // of a block
constexpr int kThreads = kLanes * kRows;

// In shared memory: `tile` rows of kDepth elements of a, kDepth rows of `tile` elements of b, and the sums.
__global__ void __launch_bounds__(kThreads) dynamic_kernel(const float* a,  // (m, k)
                                                           const float* b,  // (k, n)
                                                           float* c,        // (m, n)
                                                           int m, int n, int k, int tile) {
  extern __shared__ float4 memory[];
  float* a_tile = reinterpret_cast<float*>(memory);  // (tile, kDepth)
  float* b_tile = a_tile + tile * kDepth;            // (kDepth, tile)
  float* sums = b_tile + kDepth * tile;              // (tile, tile)
  const int x = threadIdx.x, y = threadIdx.y;
  const int64_t row0 = int64_t{blockIdx.y} * tile, col0 = int64_t{blockIdx.x} * tile;

  // A thread makes the elements of rows y, y + 16, ... in columns x, x + 32, ..., and nobody else touches their sums.
  for (int row = y; row < tile; row += kRows) {
    for (int col = x; col < tile; col += kLanes) sums[row * tile + col] = 0.0f;
  }
  for (int64_t step = 0; step < k; step += kDepth) {
    for (int row = y; row < tile; row += kRows) {
      const bool inside = row0 + row < m && step + x < k;
      a_tile[row * kDepth + x] = inside ? a[(row0 + row) * k + step + x] : 0.0f;
    }
    for (int i = y; i < kDepth; i += kRows) {
      for (int col = x; col < tile; col += kLanes) {
        const bool inside = step + i < k && col0 + col < n;
        b_tile[i * tile + col] = inside ? b[(step + i) * n + col0 + col] : 0.0f;
      }
    }
    __syncthreads();
    for (int row = y; row < tile; row += kRows) {
      for (int col = x; col < tile; col += kLanes) {
        float sum = sums[row * tile + col];
        for (int i = 0; i < kDepth; ++i) sum += a_tile[row * kDepth + i] * b_tile[i * tile + col];
        sums[row * tile + col] = sum;
      }
    }
    __syncthreads();
  }
  for (int row = y; row < tile && row0 + row < m; row += kRows) {
    for (int col = x; col < tile && col0 + col < n; col += kLanes) {
      c[(row0 + row) * n + col0 + col] = sums[row * tile + col];
    }
  }
}

// A block gets more than 48 KiB only where the kernel has asked for it. Refuses what the device has not got.
void allow_tile(int tile, const char* variant) {
  const int64_t bytes = tile_bytes(tile),
                most = days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  days::require(bytes <= most, variant, ": a tile of", tile, " x", tile, " takes", bytes,
                " bytes of shared memory, and this device gives a block", most);
  CUDA_CHECK(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

void launch(const Matmul<float>& p, int tile, const char* variant, cudaStream_t stream) {
  allow_tile(tile, variant);
  const dim3 block(kLanes, kRows), grid(days::ceil_div(p.n, tile), days::ceil_div(p.m, tile));
  const size_t bytes = static_cast<size_t>(tile_bytes(tile));
  dynamic_kernel<<<grid, block, bytes, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k, tile);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

int resident_blocks(int tile) {
  if (tile_bytes(tile) > days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) return 0;
  allow_tile(tile, "resident_blocks");
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_kernel, kThreads,
                                                           static_cast<size_t>(tile_bytes(tile))));
  return blocks;
}

// The largest tile of which a multiprocessor holds two blocks, so that one computes while the other fetches, and of
// which c has enough to fill all multiprocessors. Small matrices get small tiles.
int picked_tile(int m, int n) {
  for (const int tile : {192, 160, 128, 96, 64}) {
    const int resident = resident_blocks(tile);
    const int64_t blocks = int64_t{days::ceil_div(m, tile)} * days::ceil_div(n, tile);
    if (resident >= 2 && blocks >= int64_t{resident} * days::multiprocessors()) return tile;
  }
  return 32;
}

void matmul_dynamic(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "dynamic");
  days::require_needs(p, "dynamic", kMAlongY);
  launch(p, 64, "dynamic", stream);
}

void matmul_picked(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "picked");
  days::require_needs(p, "picked", kMAlongY);
  launch(p, picked_tile(p.m, p.n), "picked", stream);
}

void matmul_by_hand(const TiledMatmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "by_hand");
  days::require_needs(p, "by_hand", kSomeTile, kWholeTile, kMAlongY);
  launch(p, p.tile, "by_hand", stream);
}

}  // namespace day11
