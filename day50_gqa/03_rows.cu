// SPDX-License-Identifier: MIT
//
// Tensor cores, as attention of many queries has them (day 43): the group's queries are the 16 rows of a product, 8 keys
// its columns. A group of 8 leaves half of the rows empty, and they are multiplied all the same. Changed since shared:
// mma.sync in place of multiply-adds and shuffles; a warp has 16 keys of each tile, and all queries.
// Bound by: latency. Every tile is waited for.
// Teaches: multiply_keys, multiply_values.

#include <cstdint>

#include "common/attention/ring.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day50_gqa/chunk.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using namespace days::attention;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kRows = 16;                            // of a product: queries
constexpr int kSlice = 16, kKeys = kWarps * kSlice;  // keys of a warp, of a tile
constexpr int kPad = 8;  // floats behind a row of Parts: four rows lie in all 32 banks

template <class T, int kDim>
struct Tiles {
  Tile<T, kKeys, kDim, true> k, v;
};
template <class T, int kDim>
union Shared {
  Tiles<T, kDim> tiles;
  Parts<kWarps, kRows, kDim, kPad> parts;
};

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) rows_kernel(const Decode<T> p, const Work work) {
  __shared__ Shared<T, kDim> shared;
  const Block<T, kDim, kRows> mine(p, work.chunks);
  if (mine.empty()) return mine.leave(p);
  mine.append();

  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  auto& [k, v] = shared.tiles;
  // Rows without a query are zeros, and nobody stores what becomes of them.
  uint32_t q[kDim / 16][1][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int h = lane_row() + i % 2 * 8;
    const T* const from = mine.query(p, h) + lane_col() + i / 2 * 8;
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step)
      q[step][0][i] = h < mine.heads ? *reinterpret_cast<const uint32_t*>(from + step * 16) : 0;
  }

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int first = mine.first; first < mine.end; first += kKeys) {
    __syncthreads();  // all are done with the tiles that were here
    load_tiles<kThreads, kKeys>(k, v, mine, first);
    __syncthreads();
    const int row = warp * kSlice;
    float scores[1][kSlice / 8][4] = {};
    multiply_keys<T>(scores, k, row, kept(q));
    const int keys = mine.end - first - row - lane_col();
#pragma unroll
    for (int i = 0; i < kSlice / 2; ++i) {  // keys that are not there
      if (i / 4 * 8 + i % 2 >= keys) scores[0][i / 4][i % 4] = -INFINITY;
    }
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);
    multiply_values<T>(o, scores, v, row);
  }
  __syncthreads();  // parts lie where tiles were
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int h = lane_row() + 8 * half;
    float sum = rows.sum[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);  // the four lanes that share a row
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
#pragma unroll
    for (int d = 0; d < kDim / 8; ++d) {
      *reinterpret_cast<float2*>(&shared.parts.o[warp][h][d * 8 + lane_col()]) =
          make_float2(o[0][d][2 * half], o[0][d][2 * half + 1]);
    }
    if (lane_col() == 0) {
      shared.parts.most[warp][h] = rows.most[half] * p.scale * kLog2E;
      shared.parts.sum[warp][h] = sum;
    }
  }
  finish(p, work, mine, shared.parts);
}

}  // namespace

template <class T>
requires Half<T>
void gqa_rows(const Decode<T>& p, cudaStream_t stream) {
  const Work work = prepare(p, kRows, "rows");
  for_dim(p.dim, [&](auto dim) {
    rows_kernel<T, dim><<<work.blocks, kThreads, 0, stream>>>(p, work);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(gqa_rows, Decode, days::half, days::bf16);

}  // namespace day50
