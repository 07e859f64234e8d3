// SPDX-License-Identifier: MIT
//
// Weights in the order in which they are used. Before the first product they are written anew, tile after tile of 16 rows and 128
// of k: a lane's codes side by side, so a warp's load is 512 bytes in a row; pairs as magic takes them out, so tokens stay as they
// are; the tile's scales behind its codes, both rows of a lane in one load. Changed since fragments: where a code lies.
// Bound by: waits, still. Each warp has one tile under way, and then multiplies it.

#include <cstdint>

#include "common/check.h"
#include "day75_weight_only_matmul/tiles.cuh"

namespace day75 {
namespace {

using days::attention::mma;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;

template <class T, int kTiles>
__global__ void __launch_bounds__(kThreads)
    repacked_kernel(const Int4Matmul<T> p, const Int4Tile<T>* tiles, int depths) {
  __shared__ Tokens<8 * kTiles> tokens;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int row = warp * kTileRows;
  const Int4Tile<T>* of_rows = tiles + int64_t{warp} * depths;

  float sum[kTiles][4] = {};
  for (int depth = 0; depth < depths; ++depth) {
    __syncthreads();  // all are done with the last tile's tokens
    for (int i = static_cast<int>(threadIdx.x); i < 8 * kTiles * tokens.kChunks; i += kThreads) {
      const int token = i / tokens.kChunks, chunk = i % tokens.kChunks;
      const uint4* from =
          reinterpret_cast<const uint4*>(p.x + int64_t{token} * p.k + depth * kTileDepth) + chunk;
      tokens.at(token, chunk) = token < p.m ? *from : make_uint4(0, 0, 0, 0);
    }
    uint4 codes = make_uint4(0, 0, 0, 0), codes8 = codes;
    float2 s = make_float2(0, 0);
    if (row < p.n) {
      const Int4Tile<T>& tile = of_rows[depth];
      codes = tile.lane_codes[0][lane];
      codes8 = tile.lane_codes[1][lane];
      s = floats_of(tile.scale[0][g]);
    }
    __syncthreads();

    const uint32_t words[kChunksOfLane] = {codes.x, codes.y, codes.z, codes.w},
                   words8[kChunksOfLane] = {codes8.x, codes8.y, codes8.z, codes8.w};
    float part[kTiles][4] = {};
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
      uint32_t a[4], a8[4];
      eight_of<T>(words[i], a);
      eight_of<T>(words8[i], a8);
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const uint4 b = tokens.at(8 * tile + g, 4 * i + t);
        mma<T>(part[tile], {a[0], a8[0], a[1], a8[1]}, b.x, b.y);
        mma<T>(part[tile], {a[2], a8[2], a[3], a8[3]}, b.z, b.w);
      }
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[tile][i] = fmaf(i < 2 ? s.x : s.y, part[tile][i], sum[tile][i]);
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) store_sums(p.y, p.m, p.n, 8 * tile, row, sum[tile]);
}

}  // namespace

template <class T>
void int4_repacked(const Int4Matmul<T>& p, cudaStream_t stream) {
  const Stripes stripes = require_repacked(p, "repacked");
  days::require_needs(p, "repacked", kWholeGroups);
  const unsigned blocks = days::grid_of(p.n, kWarps * kTileRows, "repacked");
  for_tokens(p.m, [&](auto tiles) {
    repacked_kernel<T, tiles><<<blocks, kThreads, 0, stream>>>(p, tiles_of(p), stripes.depths);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(int4_repacked, Int4Matmul, days::half, days::bf16);

}  // namespace day75
