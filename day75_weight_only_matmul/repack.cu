// SPDX-License-Identifier: MIT
//
// Weights as they come, into tiles (tiles.cuh). Runs once for a matrix, before all products: a thread for each 8 codes.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day75_weight_only_matmul/tiles.cuh"

namespace day75 {
namespace {

constexpr int kThreads = 256, kChunks = kTileDepth / 8;

// Number i of four pairs (0, 1), (2, 3), ... has to lie where eight_of() takes it from: pair j is at bits 4 * j and 4 * j + 16.
template <class T>
__device__ void pack(Int4Tile<T>& tile, const Int4Matmul<T>& p, int64_t row, int first, int half, int lane,
                     int i) {
  uint32_t word = 0;
  for (int e = 0; e < 8; ++e) {
    unsigned code = 8;
    if (row < p.n) {
      const days::uint4x2 two = p.w[(row * p.k + first + e) / 2];
      code = e % 2 == 0 ? two.lower() : two.upper();
    }
    word |= code << (e / 2 * 4 + e % 2 * 16);
  }
  tile.word(half, lane, i, 0) = word;
}
// Pair j is at bits 8 * j and 8 * j + 16 of a word of four.
template <class T>
__device__ void pack(Int8Tile<T>& tile, const Int8Matmul<T>& p, int64_t row, int first, int half, int lane,
                     int i) {
  for (int word = 0; word < 2; ++word) {
    uint32_t bits = 0;
    for (int e = 0; e < 4; ++e) {
      const int col = first + 4 * word + e;
      const int8_t code = row < p.n && col < p.k ? p.w[row * p.k + col] : int8_t{0};
      bits |= uint32_t{static_cast<uint8_t>(code)} << (e / 2 * 8 + e % 2 * 16);
    }
    tile.word(half, lane, i, word) = bits;
  }
}
// A byte is a pair already.
template <class T>
__device__ void pack(Nf4Tile<T>& tile, const Nf4Matmul<T>& p, int64_t row, int first, int half, int lane,
                     int i) {
  uint32_t word = 0;
  for (int e = 0; e < 4; ++e) {
    const uint8_t byte =
        row < p.n && first + 2 * e < p.k ? p.codes[(row * p.k + first) / 2 + e] : uint8_t{0x77};
    word |= uint32_t{byte} << (8 * e);
  }
  tile.word(half, lane, i, 0) = word;
}

template <class T>
__device__ T scale_of(const Int4Matmul<T>& p, int64_t row, int depth, int) {
  return row < p.n ? p.scale[row * (p.k / kGroup) + depth] : days::from_float<T>(0);
}
template <class T>
__device__ float scale_of(const Nf4Matmul<T>& p, int64_t row, int depth, int i) {
  const int block = 2 * depth + i, blocks = p.k / static_cast<int>(days::kNf4Block);
  return row < p.n && block < blocks ? p.absmax[row * blocks + block] : 0;
}

// A block has a tile.
template <class Tile, class Problem>
__global__ void __launch_bounds__(kThreads) repack_kernel(const Problem p, Tile* tiles, int depths) {
  static_assert(kThreads == kTileRows * kChunks);
  const int chunk = static_cast<int>(threadIdx.x) % kChunks,
            of_tile = static_cast<int>(threadIdx.x) / kChunks;
  const int64_t number = blockIdx.x;
  const int depth = static_cast<int>(number % depths);
  const int64_t row = number / depths * kTileRows + of_tile;
  Tile& tile = tiles[number];
  pack(tile, p, row, depth * kTileDepth + chunk * 8, of_tile / 8, of_tile % 8 * 4 + chunk % 4, chunk / 4);
  if constexpr (Tile::kScales > 0) {
    if (chunk < Tile::kScales) {
      auto& two = tile.scale[chunk][of_tile % 8];
      (of_tile < 8 ? two.x : two.y) = scale_of(p, row, depth, chunk);
    }
  }
}

template <class Problem>
Repacked repack(const Problem& p, cudaStream_t stream) {
  require_weight_only(p, "repack");
  const Stripes stripes(p);
  days::require(p.workspace.bytes >= stripes.bytes, "repack: needs a workspace of bytes:", stripes.bytes);
  const unsigned blocks =
      days::grid_of(int64_t{days::ceil_div(p.n, kTileRows)} * stripes.depths, 1, "repack");
  repack_kernel<<<blocks, kThreads, 0, stream>>>(p, tiles_of(p), stripes.depths);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemsetAsync(static_cast<char*>(p.workspace.data) + stripes.tickets, 0,
                             stripes.partials - stripes.tickets, stream));
  return {};
}

}  // namespace

template <class T>
Repacked int4_repack(const Int4Matmul<T>& p, cudaStream_t stream) {
  days::require_needs(p, "repack", kWholeGroups);
  return repack(p, stream);
}
template Repacked int4_repack(const Int4Matmul<days::half>&, cudaStream_t);
template Repacked int4_repack(const Int4Matmul<days::bf16>&, cudaStream_t);

template <class T>
Repacked int8_repack(const Int8Matmul<T>& p, cudaStream_t stream) {
  return repack(p, stream);
}
template Repacked int8_repack(const Int8Matmul<days::half>&, cudaStream_t);
template Repacked int8_repack(const Int8Matmul<days::bf16>&, cudaStream_t);

template <class T>
Repacked nf4_repack(const Nf4Matmul<T>& p, cudaStream_t stream) {
  days::require_needs(p, "repack", kWholeBlocks);
  return repack(p, stream);
}
template Repacked nf4_repack(const Nf4Matmul<days::half>&, cudaStream_t);
template Repacked nf4_repack(const Nf4Matmul<days::bf16>&, cudaStream_t);

}  // namespace day75
