// SPDX-License-Identifier: MIT
//
// Weights go into tensor cores as they are unpacked. Sixteen rows of W are the left matrix of mma, eight tokens the right one, so
// one instruction multiplies each weight with eight tokens. Which 16 numbers of k a step takes is free as long as both sides take
// the same: a lane takes the 32 codes of one load, in the order in which magic's pairs come, and the tokens are put in that order
// once a block. A group's sum is multiplied by its scale in fp32, so no weight is rounded.
// Changed since magic: who multiplies, and where tokens are read.
// Bound by: waits. Each group of 128 is asked for when it is needed, from sixteen places 64 bytes long.
// Teaches: mma.

#include <cstdint>

#include "common/check.h"
#include "day75_weight_only_matmul/weights.cuh"

namespace day75 {
namespace {

using days::attention::mma;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
constexpr int kWords = 4;  // of a lane's 16 bytes of codes

template <class T, int kTiles>
__global__ void __launch_bounds__(kThreads) fragments_kernel(const Int4Matmul<T> p) {
  __shared__ Tokens<8 * kTiles> tokens;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int row = warp * kTileRows, groups = p.k / kGroup;
  // A block without rows would fetch tokens for nothing.
  if (static_cast<int>(blockIdx.x) * kWarps * kTileRows >= p.n) return;
  const bool upper = row + g < p.n, lower = row + g + 8 < p.n;  // whether the lane's two rows are there
  const uint4 *w = reinterpret_cast<const uint4*>(p.w + int64_t{row + g} * (p.k / 2)) + t,
              *w8 = w + 8 * (p.k / 32);
  const T *scale = p.scale + int64_t{row + g} * groups, *scale8 = scale + 8 * groups;

  float sum[kTiles][4] = {};
  for (int group = 0; group < groups; ++group) {
    __syncthreads();  // all are done with the last group's tokens
    for (int i = static_cast<int>(threadIdx.x); i < 8 * kTiles * tokens.kChunks; i += kThreads) {
      // The lane's four chunks lie four apart.
      const int token = i / tokens.kChunks, place = i % tokens.kChunks, chunk = place % 4 * 4 + place / 4;
      uint4 v = make_uint4(0, 0, 0, 0);
      if (token < p.m) v = reinterpret_cast<const uint4*>(p.x + int64_t{token} * p.k + group * kGroup)[chunk];
      // From numbers 0 1, 2 3, 4 5, 6 7 to 0 4, 1 5, 2 6, 3 7.
      tokens.at(token, place) = make_uint4(__byte_perm(v.x, v.z, 0x5410), __byte_perm(v.x, v.z, 0x7632),
                                           __byte_perm(v.y, v.w, 0x5410), __byte_perm(v.y, v.w, 0x7632));
    }
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    const uint4 codes = upper ? w[4 * group] : zeros, codes8 = lower ? w8[4 * group] : zeros;
    const float s = upper ? days::to_float(scale[group]) : 0, s8 = lower ? days::to_float(scale8[group]) : 0;
    __syncthreads();

    const uint32_t words[kWords] = {codes.x, codes.y, codes.z, codes.w},
                   words8[kWords] = {codes8.x, codes8.y, codes8.z, codes8.w};
    float part[kTiles][4] = {};
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
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
      for (int i = 0; i < 4; ++i) sum[tile][i] = fmaf(i < 2 ? s : s8, part[tile][i], sum[tile][i]);
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) store_sums(p.y, p.m, p.n, 8 * tile, row, sum[tile]);
}

}  // namespace

template <class T>
void int4_fragments(const Int4Matmul<T>& p, cudaStream_t stream) {
  require_weight_only(p, "fragments");
  days::require_needs(p, "fragments", kFewTokens, kWholeGroups, kAligned);
  const unsigned blocks = days::grid_of(p.n, kWarps * kTileRows, "fragments");
  for_tokens(p.m, [&](auto tiles) {
    fragments_kernel<T, tiles><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(int4_fragments, Int4Matmul, days::half, days::bf16);

}  // namespace day75
