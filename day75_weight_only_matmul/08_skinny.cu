// SPDX-License-Identifier: MIT
//
// Weights of 16 bits as they lie, for up to 32 tokens: what a model that writes a token at a time does most. Weights need no
// unpacking, and lanes take the 16 bytes of a load as the fragments of two steps of mma, of W and of the tokens alike; so
// nothing is repacked, and nothing goes through shared memory. Eight warps take turns along k of the same rows, and add their sums
// in the order of warps: the same bits each time, with no workspace.
// Bound by: memory, where n has rows for all multiprocessors.

#include <cstdint>

#include "common/check.h"
#include "day75_weight_only_matmul/weights.cuh"

namespace day75 {
namespace {

using days::attention::mma;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
constexpr int kDepth = 32;  // of k: 16 bytes of each of four lanes
constexpr int kAtOnce = 4;  // requests for each row of a lane

template <class T, int kTiles>
__global__ void __launch_bounds__(kThreads) skinny_kernel(const PlainMatmul<T> p) {
  __shared__ float parts[kWarps][kTiles][4][days::kWarpSize];
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int row = static_cast<int>(blockIdx.x) * kTileRows;
  const bool upper = row + g < p.n, lower = row + g + 8 < p.n;  // whether the lane's two rows are there
  const T *w = p.w + int64_t{row + g} * p.k, *w8 = w + int64_t{8} * p.k;
  const auto chunk = [&](const T* from, bool inside) {
    return inside ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
  };

  float sum[kTiles][4] = {};
  for (int first = warp * kDepth; first < p.k; first += kWarps * kAtOnce * kDepth) {
    uint4 a[kAtOnce], a8[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int col = first + i * kWarps * kDepth + t * 8;
      a[i] = chunk(w + col, upper && col < p.k);
      a8[i] = chunk(w8 + col, lower && col < p.k);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int col = first + i * kWarps * kDepth + t * 8;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const int token = 8 * tile + g;
        const uint4 b = chunk(p.x + int64_t{token} * p.k + col, token < p.m && col < p.k);
        mma<T>(sum[tile], {a[i].x, a8[i].x, a[i].y, a8[i].y}, b.x, b.y);
        mma<T>(sum[tile], {a[i].z, a8[i].z, a[i].w, a8[i].w}, b.z, b.w);
      }
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int e = 0; e < 4; ++e) parts[warp][tile][e][lane] = sum[tile][e];
  }
  __syncthreads();
  for (int tile = warp; tile < kTiles; tile += kWarps) {
    float total[4] = {};
    for (int of = 0; of < kWarps; ++of) {
#pragma unroll
      for (int e = 0; e < 4; ++e) total[e] += parts[of][tile][e][lane];
    }
    store_sums(p.y, p.m, p.n, 8 * tile, row, total);
  }
}

}  // namespace

template <class T>
void plain_skinny(const PlainMatmul<T>& p, cudaStream_t stream) {
  require_weight_only(p, "skinny");
  days::require_needs(p, "skinny", kSkinny, kWholeChunks, kAligned);
  const unsigned blocks = days::grid_of(p.n, kTileRows, "skinny");
  for_tokens<kSkinnyTokens>(p.m, [&](auto tiles) {
    skinny_kernel<T, tiles><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(plain_skinny, PlainMatmul, days::half, days::bf16);

}  // namespace day75
