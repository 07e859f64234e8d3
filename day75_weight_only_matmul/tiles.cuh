// SPDX-License-Identifier: MIT
//
// Weights in the order in which a warp wants them: tiles of 16 rows and 128 of k. A lane's codes lie together, so that a warp
// reads 512 neighbouring bytes with one instruction; of k a lane has what it loads of the tokens, 16 bytes at a time; and the
// tile's scales follow its codes. Made once, by repack.cu, into the workspace.
#pragma once

#include <cstdint>

#include "day75_weight_only_matmul/weights.cuh"

namespace day75 {

inline constexpr int kChunksOfLane =
    kTileDepth / 8 / 4;  // of the 16 chunks of 8 numbers of a row a lane has every fourth

// Lane 4 * g + t has, of row g and of row g + 8, chunks t, t + 4, t + 8 and t + 12: kWords words each.
template <int kWords_>
struct TileCodes {
  static constexpr int kWords = kWords_;
  uint4 lane_codes[2 * kWords][days::kWarpSize];

  // Word `word` of chunk 4 * i + t of row g, or of row g + 8 where `half` is 1.
  __device__ uint32_t& word(int half, int lane, int i, int word) {
    const int of_row = kWords * i + word;
    return (&lane_codes[half * kWords + of_row / 4][lane].x)[of_row % 4];
  }
};

template <class T>
struct Int4Tile : TileCodes<1> {
  static constexpr int kScales = 1;  // of a row's part of the tile
  Two<T> scale[kScales][8];          // of rows g and g + 8
};
template <class T>
struct Int8Tile : TileCodes<2> {
  static constexpr int kScales = 0;  // a row has one
};
template <class T>
struct Nf4Tile : TileCodes<1> {
  static constexpr int kScales = 2;
  float2 scale[kScales][8];
};

template <class Problem>
struct TileOf;
template <class T>
struct TileOf<Int4Matmul<T>> {
  using Tile = Int4Tile<T>;
};
template <class T>
struct TileOf<Int8Matmul<T>> {
  using Tile = Int8Tile<T>;
};
template <class T>
struct TileOf<Nf4Matmul<T>> {
  using Tile = Nf4Tile<T>;
};

// Tile after tile along k, then the next 16 rows. What there is no row or no k for is a weight of 0.
template <class Problem>
auto* tiles_of(const Problem& p) {
  using Tile = typename TileOf<Problem>::Tile;
  static_assert(sizeof(Tile) % 16 == 0 && sizeof(Tile) == tile_bytes(Problem{}));
  return static_cast<Tile*>(p.workspace.data);
}

}  // namespace day75
