// SPDX-License-Identifier: MIT
//
// Loads of tiles (tensor.cuh) from arrays whose rows lie `pitch` elements apart, as those of a head do where a token's heads, or its
// queries, keys and values, lie side by side.
#pragma once

#include <cstdint>

#include "common/attention/tensor.cuh"
#include "common/ptx.h"

namespace days::attention {

// for_chunks of tensor.cuh. Addresses are added up and not multiplied, which takes fewer registers.
template <int kThreads, int kRows, class Tile, class Move>
__device__ __forceinline__ void for_pitched_chunks(Tile& tile, int row, const typename Tile::Element* from,
                                                   int64_t pitch, int first, int count, const Move& move) {
  constexpr int kStep = kThreads / Tile::kChunks;  // rows
  static_assert(kStep % 8 == 0 && kRows % kStep == 0, "each pass must meet the same swizzle");
  const int mine = static_cast<int>(threadIdx.x) / Tile::kChunks;
  const int chunk = static_cast<int>(threadIdx.x) % Tile::kChunks;
  auto* const to = tile.at(row + mine, chunk);
  from += (first + mine) * pitch + chunk * kChunk;
#pragma unroll
  for (int down = 0; down < kRows; down += kStep, from += kStep * pitch)
    move(to + down * Tile::kDim, from, mine + down < count - first);
}

// Rows first ... of `count` to rows `row` ... of the tile, by a block; zeros beyond the last.
template <int kThreads, int kRows, class Tile>
__device__ __forceinline__ void load_pitched(Tile& tile, int row, const typename Tile::Element* from,
                                             int64_t pitch, int first, int count) {
  for_pitched_chunks<kThreads, kRows>(
      tile, row, from, pitch, first, count, [](auto* to, auto* source, bool inside) {
        *reinterpret_cast<uint4*>(to) =
            inside ? *reinterpret_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
      });
}

// The same without waiting: a part of the thread's next group of copies.
template <int kThreads, int kRows, class Tile>
__device__ __forceinline__ void load_pitched_async(Tile& tile, int row, const typename Tile::Element* from,
                                                   int64_t pitch, int first, int count) {
  for_pitched_chunks<kThreads, kRows>(
      tile, row, from, pitch, first, count,
      [](auto* to, auto* source, bool inside) { days::ptx::cp_async_cg(to, source, inside ? 16 : 0); });
}

}  // namespace days::attention
