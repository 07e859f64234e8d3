// SPDX-License-Identifier: MIT
//
// The product turned round: scores^T = k q^T has 16 keys as its rows and 8 queries as its columns, and a group of 8 fills
// it. Weights come out as columns and are wanted as columns, but a lane holds two neighbours of a row where it should
// hold two of a column: movmatrix mends that, in registers. Then o^T += v^T weights^T. Changed since rows: which
// operand is which; half as many products, half as many registers.
// Bound by: latency. Every tile is waited for.
// Teaches: movmatrix_trans.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day50_gqa/chunk.cuh"
#include "day50_gqa/columns.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using days::attention::kLog2E;
using days::attention::Tile;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kKeys = kWarps * kSlice;

template <class T, int kDim>
struct Tiles {
  Tile<T, kKeys, kDim, true> k, v;
};
template <class T, int kDim, int kTiles>
union Shared {
  Tiles<T, kDim> tiles;
  Parts<kWarps, kTiles * kColumns, kDim, kColumnPad> parts;
};

template <class T, int kDim, int kTiles>
__global__ void __launch_bounds__(kThreads) columns_kernel(const Decode<T> p, const Work work) {
  __shared__ Shared<T, kDim, kTiles> shared;
  const Block<T, kDim, kTiles * kColumns> mine(p, work.chunks);
  if (mine.empty()) return mine.leave(p);
  mine.append();

  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const float scale = p.scale * kLog2E;
  auto& [k, v] = shared.tiles;
  Columns<T, kDim, kTiles> columns(p, mine);
  for (int first = mine.first; first < mine.end; first += kKeys) {
    __syncthreads();  // all are done with the tiles that were here
    load_tiles<kThreads, kKeys>(k, v, mine, first);
    __syncthreads();
    const int row = warp * kSlice;  // of the tiles: the warp's 16 keys

    // Rows are keys: a fragment of k as it lies, and the queries' from registers.
    float scores[kTiles][4] = {};
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step) {
      uint32_t a[4];
      days::ptx::ldmatrix(a, k.at(row + lane % 16, lane / 16, 2 * step));
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        days::attention::mma<T>(scores[tile], a, columns.q[tile][step][0], columns.q[tile][step][1]);
    }
    columns.softmax(scores, mine.end - first - row, scale);

    // A lane has weights of keys g and g + 8, two queries each. The product wants two neighbouring keys of query g.
    uint32_t weights[kTiles][2];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const float(&s)[4] = scores[tile];
      weights[tile][0] = days::ptx::movmatrix_trans(days::attention::pack<T>(s[0], s[1]));
      weights[tile][1] = days::ptx::movmatrix_trans(days::attention::pack<T>(s[2], s[3]));
    }

    // Rows are elements of o: a fragment of v, transposed on the way into the registers.
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step) {
      uint32_t a[4];
      days::ptx::ldmatrix<true>(a, v.at(row + lane / 16 * 8 + lane % 8, lane / 8 % 2, 2 * step));
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        days::attention::mma<T>(columns.o[tile][step], a, weights[tile][0], weights[tile][1]);
    }
  }
  __syncthreads();  // parts lie where tiles were
  columns.put(shared.parts, warp, scale);
  finish(p, work, mine, shared.parts);
}

}  // namespace

template <class T>
requires Half<T>
void gqa_columns(const Decode<T>& p, cudaStream_t stream) {
  for_dim(p.dim, [&](auto dim) {
    for_tiles(p, "columns", [&](auto tiles) {
      const Work work = prepare(p, tiles * kColumns, "columns");
      columns_kernel<T, dim, tiles><<<work.blocks, kThreads, 0, stream>>>(p, work);
      CUDA_CHECK_LAUNCH();
    });
  });
}

INSTANTIATE_LAUNCHER(gqa_columns, Decode, days::half, days::bf16);

}  // namespace day50
