// SPDX-License-Identifier: MIT
//
// Three rungs of one kernel; they differ in how weights are kept.
//
// striped: The read never stops, and all multiprocessors read alike. Units of 256 rows and 128 of k stand in a line, and each block of
// the grid takes as many neighbours of it as any other; where its share ends in the middle of rows, two blocks or more have a part of
// the same sums. A ring of stages holds the next three units, which cp.async brings. Who has a part leaves it in the workspace and
// draws a ticket; whoever draws the last adds all parts in the order of blocks, so bits are the same each time.
// Changed since repacked: how work is shared out, and when weights are asked for.
// Bound by: memory.
// Teaches: cp_async_cg, cp_async_commit_group, cp_async_wait_group.
//
// bytes: int8, whose numbers become pairs of T by their bits, too. A row has one scale, which its sum is multiplied by.
// Bound by: memory.
//
// pairs: NF4, whose sixteen values no arithmetic makes. A byte of two codes is looked up in a table of 256 pairs; each of the 32
// banks of shared memory has a table of its own, so lanes never wait for each other.
// Bound by: memory, with a look-up for two weights close behind.

#include <cstdint>
#include <type_traits>

#include "common/attention/partials.cuh"
#include "common/check.h"
#include "day75_weight_only_matmul/tiles.cuh"

namespace day75 {
namespace {

using days::attention::mma;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
constexpr int kStages = Stripes::kStages;
constexpr int kRowTiles = Stripes::kRows / kTileRows / kWarps;  // of a warp

// Pairs of T that a byte stands for, once for each bank: lane l reads entry[byte][l].
struct Table {
  uint32_t entry[256][days::kWarpSize];
};
struct NoTable {};

// The eight weights of one chunk as four pairs.
template <class T>
__device__ __forceinline__ void unpack(const Int4Tile<T>&, const NoTable&, const uint32_t* word,
                                       uint32_t (&pair)[4]) {
  eight_of<T>(word[0], pair);
}
template <class T>
__device__ __forceinline__ void unpack(const Int8Tile<T>&, const NoTable&, const uint32_t* word,
                                       uint32_t (&pair)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t two = word[i / 2] >> 8 * (i % 2);
    if constexpr (std::is_same_v<T, days::half>) {
      // The sign's bit turned over makes it w + 128, and in the last bits of 1024 that is 1152 + w.
      pair[i] = bits_of<T>(__hsub2(two_of<T>(days::ptx::lop3<(days::ptx::kA & days::ptx::kB) ^ days::ptx::kC>(
                                       two, 0x00ff00ff, 0x64806480)),
                                   two_of<T>(0x64806480)));
    } else {
      // Below 128 seven bits are free, and the eighth, the sign, is the exponent's last: with it alone 0x4300 is 256.
      pair[i] = bits_of<T>(__hsub2(two_of<T>(take(two, 0x007f007f, 0x43004300)),
                                   two_of<T>(take(two, 0x00800080, 0x43004300))));
    }
  }
}
template <class T>
__device__ __forceinline__ void unpack(const Nf4Tile<T>&, const Table& table, const uint32_t* word,
                                       uint32_t (&pair)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) pair[i] = table.entry[(word[0] >> 8 * i) & 255][threadIdx.x % days::kWarpSize];
}

template <class Tile>
inline constexpr bool kLooksUp = false;
template <class T>
inline constexpr bool kLooksUp<Nf4Tile<T>> = true;

template <class Tile, int kTiles>
struct Stage {
  Tile w[Stripes::kRows / kTileRows];
  Tokens<8 * kTiles> tokens;
};
template <class Tile, int kTiles>
struct Shared {
  Stage<Tile, kTiles> stage[kStages];
  std::conditional_t<kLooksUp<Tile>, Table, NoTable> table;
};
// Blocks of a multiprocessor.
template <class Tile, int kTiles>
constexpr int resident() {
  return Stripes::resident(8 * kTiles, sizeof(Shared<Tile, kTiles>));
}

// Which units are a block's, and which blocks have a part of the same 256 rows.
struct Share {
  int units, depths, blocks;

  __device__ int begin(int block) const { return static_cast<int>(int64_t{block} * units / blocks); }
  // The block that has the unit.
  __device__ int of(int unit) const { return static_cast<int>(((unit + int64_t{1}) * blocks - 1) / units); }
};
// Where a unit lies.
struct Place {
  int rows, depth;

  __device__ Place(int unit, int depths) : rows(unit / depths), depth(unit % depths) {}
  __device__ void next(int depths) {
    if (++depth == depths) {
      depth = 0;
      ++rows;
    }
  }
};

// Leaves this block's sums of `rows`. Where all other parts have come before, `sum` is then that of all, and the result true.
template <int kTiles>
__device__ bool join_parts(const Share& share, int rows, unsigned* tickets, float* partials,
                           float (&sum)[kRowTiles][kTiles][4]) {
  constexpr int kSums = kRowTiles * kTiles * 4;
  const int unit = rows * share.depths, first = share.of(unit), last = share.of(unit + share.depths - 1);
  // A block may have parts of the first and of the last of its rows.
  const auto part_of = [&](int block) {
    const int64_t part = 2 * int64_t{block} + (share.begin(block) < unit ? 1 : 0);
    return partials + part * kSums * kThreads + threadIdx.x;
  };
  const auto each = [&](const auto& run) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) run(i * kThreads, sum[i / (kTiles * 4)][i / 4 % kTiles][i % 4]);
  };
  float* const mine = part_of(static_cast<int>(blockIdx.x));
  each([&](int at, float& one) { mine[at] = one; });
  __syncthreads();
  if (!days::attention::draws_last_of(tickets + rows, last - first + 1)) return false;
  each([&](int, float& one) { one = 0; });
  for (int block = first; block <= last; ++block) {
    const float* const part = part_of(block);
    each([&](int at, float& one) { one += __ldcg(part + at); });
  }
  return true;
}

template <class Problem, class T, class Tile, int kTiles>
__global__ void __launch_bounds__(kThreads, (resident<Tile, kTiles>()))
    striped_kernel(const Problem p, const Tile* tiles, Share share, unsigned* tickets, float* partials) {
  using Chunks = Tokens<8 * kTiles>;
  constexpr int kWords = Tile::kWords, kScales = Tile::kScales;
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<Shared<Tile, kTiles>*>(memory);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize,
            warp = thread / days::kWarpSize;
  const int g = lane / 4, t = lane % 4;
  const int begin = share.begin(static_cast<int>(blockIdx.x)),
            end = share.begin(static_cast<int>(blockIdx.x) + 1);
  const int row_tiles = days::ceil_div(p.n, kTileRows);

  // What this thread copies of the next unit: 16 bytes in every kWarpSize-th place of its warp's tiles, and of the tokens. Along k both
  // are found by an addition.
  constexpr int kPieces = sizeof(Tile) / 16, kTokenPieces = 8 * kTiles * Chunks::kChunks;
  static_assert(kThreads % Chunks::kChunks == 0);
  const int chunk = thread % Chunks::kChunks, token = thread / Chunks::kChunks;
  const int tile_step = share.depths * kPieces;
  Place ahead(begin, share.depths);
  const uint4* from = nullptr;
  int inside = 0;  // of the warp's tiles
  const auto find = [&] {
    const int tile = (ahead.rows * kWarps + warp) * kRowTiles;
    from = reinterpret_cast<const uint4*>(tiles + (int64_t{tile} * share.depths + ahead.depth)) + lane;
    inside = min(max(row_tiles - tile, 0), kRowTiles);
  };
  find();
  const auto fetch = [&](int unit) {
    if (unit < end) {
      Stage<Tile, kTiles>& stage = shared.stage[unit % kStages];
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        auto* to = reinterpret_cast<uint4*>(&stage.w[warp * kRowTiles + r]) + lane;
        // Of a tile that is not there nothing is read.
        const uint4* of_tile = from + (r < inside ? r * tile_step : 0);
#pragma unroll
        for (int i = 0; i < kPieces; i += days::kWarpSize) {
          if (i + days::kWarpSize <= kPieces || i + lane < kPieces)
            days::ptx::cp_async_cg(to + i, of_tile + i, r < inside ? 16 : 0);
        }
      }
      const int col = ahead.depth * kTileDepth + chunk * 8;
#pragma unroll
      for (int i = 0; i < kTokenPieces; i += kThreads) {
        const int of_piece = i / Chunks::kChunks + token;
        if (i + kThreads > kTokenPieces && of_piece >= 8 * kTiles) break;
        const bool there = of_piece < p.m && col < p.k;
        days::ptx::cp_async_cg(&stage.tokens.at(of_piece, chunk),
                               p.x + (there ? int64_t{of_piece} * p.k + col : 0), there ? 16 : 0);
      }
      ahead.next(share.depths);
      from += kPieces;
      if (ahead.depth == 0) find();
    }
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s);
  if constexpr (kLooksUp<Tile>) {
    for (int i = warp; i < 256; i += kWarps) {
      const unsigned byte = static_cast<unsigned>(i);
      shared.table.entry[i][lane] =
          days::attention::pack<T>(days::nf4_value(byte >> 4), days::nf4_value(byte & 15));
    }
  }

  float sum[kRowTiles][kTiles][4] = {};
  Place place(begin, share.depths);
  for (int unit = begin; unit < end; ++unit, place.next(share.depths)) {
    days::ptx::cp_async_wait_group<kStages - 2>();  // this thread's part of the unit is here
    __syncthreads();  // all of it is here, and all are done with the unit before, whose stage is filled next
    fetch(unit + kStages - 1);
    const Stage<Tile, kTiles>& stage = shared.stage[unit % kStages];

    uint32_t words[kRowTiles][2][kChunksOfLane * kWords];
#pragma unroll
    for (int i = 0; i < kRowTiles * 2 * kWords; ++i) {
      const uint4 codes = stage.w[warp * kRowTiles + i / (2 * kWords)].lane_codes[i % (2 * kWords)][lane];
      uint32_t* const to = words[i / (2 * kWords)][i / kWords % 2] + i % kWords * 4;
      to[0] = codes.x;
      to[1] = codes.y;
      to[2] = codes.z;
      to[3] = codes.w;
    }
    float part[kRowTiles][kTiles][4] = {};
    auto& into = kScales > 0 ? part : sum;
#pragma unroll
    for (int i = 0; i < kChunksOfLane; ++i) {
      uint32_t a[kRowTiles][2][4];
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
          unpack<T>(stage.w[0], shared.table, words[r][half] + i * kWords, a[r][half]);
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const uint4 b = stage.tokens.at(8 * tile + g, 4 * i + t);
#pragma unroll
        for (int r = 0; r < kRowTiles; ++r) {
          mma<T>(into[r][tile], {a[r][0][0], a[r][1][0], a[r][0][1], a[r][1][1]}, b.x, b.y);
          mma<T>(into[r][tile], {a[r][0][2], a[r][1][2], a[r][0][3], a[r][1][3]}, b.z, b.w);
        }
      }
      if constexpr (kScales > 0) {
        // What shares a scale is multiplied by it in fp32.
        constexpr int kEach = kChunksOfLane / kScales;
        if (i % kEach < kEach - 1) continue;
#pragma unroll
        for (int r = 0; r < kRowTiles; ++r) {
          const float2 s = floats_of(stage.w[warp * kRowTiles + r].scale[i / kEach][g]);
#pragma unroll
          for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              sum[r][tile][e] = fmaf(e < 2 ? s.x : s.y, part[r][tile][e], sum[r][tile][e]);
              part[r][tile][e] = 0;
            }
          }
        }
      }
    }

    if (unit + 1 < end && place.depth + 1 < share.depths) continue;
    const bool alone = begin <= unit - place.depth && place.depth + 1 == share.depths;
    if (alone || join_parts(share, place.rows, tickets, partials, sum)) {
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        const int row = place.rows * Stripes::kRows + (warp * kRowTiles + r) * kTileRows;
        float s[2] = {1, 1};
        if constexpr (kScales == 0) {
          for (int half = 0; half < 2; ++half)
            if (row + g + 8 * half < p.n) s[half] = days::to_float(p.scale[row + g + 8 * half]);
        }
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[r][tile][e] *= s[e / 2];
          store_sums(p.y, p.m, p.n, 8 * tile, row, sum[r][tile]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kRowTiles * kTiles * 4; ++i) sum[i / (kTiles * 4)][i / 4 % kTiles][i % 4] = 0;
  }
}

template <class T, int kMost = kMostTokens, class Problem>
void launch_striped(const Problem& p, const char* variant, cudaStream_t stream) {
  const Stripes stripes = require_repacked(p, variant);
  const Share share{stripes.depths * stripes.row_blocks, stripes.depths, stripes.blocks};
  char* const data = static_cast<char*>(p.workspace.data);
  for_tokens<kMost>(p.m, [&](auto tiles) {
    using Tile = typename TileOf<Problem>::Tile;
    constexpr int kBytes = sizeof(Shared<Tile, tiles>);
    const auto kernel = striped_kernel<Problem, T, Tile, tiles>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<static_cast<unsigned>(stripes.blocks), kThreads, kBytes, stream>>>(
        p, tiles_of(p), share, reinterpret_cast<unsigned*>(data + stripes.tickets),
        reinterpret_cast<float*>(data + stripes.partials));
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace

template <class T>
void int4_striped(const Int4Matmul<T>& p, cudaStream_t stream) {
  days::require_needs(p, "striped", kWholeGroups);
  launch_striped<T>(p, "striped", stream);
}
template <class T>
void int8_bytes(const Int8Matmul<T>& p, cudaStream_t stream) {
  days::require_needs(p, "bytes", kWholeChunks);
  launch_striped<T>(p, "bytes", stream);
}
template <class T>
void nf4_pairs(const Nf4Matmul<T>& p, cudaStream_t stream) {
  days::require_needs(p, "pairs", kSkinny, kWholeBlocks);
  launch_striped<T, kSkinnyTokens>(p, "pairs", stream);
}

INSTANTIATE_LAUNCHER(int4_striped, Int4Matmul, days::half, days::bf16);
INSTANTIATE_LAUNCHER(int8_bytes, Int8Matmul, days::half, days::bf16);
INSTANTIATE_LAUNCHER(nf4_pairs, Nf4Matmul, days::half, days::bf16);

}  // namespace day75
