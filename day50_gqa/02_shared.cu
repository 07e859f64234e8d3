// SPDX-License-Identifier: MIT
//
// A block has the whole group: a warp for each of its queries. All threads bring a tile of keys and values to shared
// memory, once, and every warp goes over all of it with its own query in registers. Changed since repeated: who has
// which query, and where keys are read.
// Bound by: multiply-adds and shuffles. A byte of k meets as many of them as the group has queries.

#include <algorithm>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day50_gqa/chunk.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using days::Vec;
using days::attention::Lanes;
using days::attention::Running;

constexpr int kHeads = 16;  // queries, and warps, that a block has at most
constexpr int kKeys = 32;   // of a tile
constexpr int kAtOnce = 4;  // requests of a warp

// Keys and values: the 16 bytes that lane i of a row has are k[row][i] and v[row][i].
template <class T, int kDim>
struct Tile {
  uint4 k[kKeys][Lanes<T, kDim>::kRowLanes], v[kKeys][Lanes<T, kDim>::kRowLanes];
};

template <class T>
__device__ uint4 load(const T* from) {
  return *reinterpret_cast<const uint4*>(from);
}

template <class T, int kDim>
__global__ void __launch_bounds__(kHeads* days::kWarpSize) shared_kernel(const Decode<T> p, const Work work) {
  using L = Lanes<T, kDim>;
  __shared__ Tile<T, kDim> tile;
  __shared__ Parts<1, kHeads, kDim, 0> parts;
  const Block<T, kDim, kHeads> mine(p, work.chunks);
  if (mine.empty()) return mine.leave(p);
  mine.append();

  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  float q[L::kCols];
  L::load_query(q, mine.query(p, warp), p.scale * kLog2E);
  Running<L::kCols> running;
  auto& [k, v] = tile;
  for (int first = mine.first; first < mine.end; first += kKeys) {
    __syncthreads();  // all are done with the tile that was here
    for (int i = static_cast<int>(threadIdx.x); i < kKeys * L::kRowLanes; i += static_cast<int>(blockDim.x)) {
      const int row = i / L::kRowLanes, lane = i % L::kRowLanes, key = first + row;
      const bool inside = key < mine.end;  // zeros beyond: a weight of 0 times NaN is NaN
      k[row][lane] = inside ? load(mine.rows.key(key) + lane * L::kCols) : uint4{};
      v[row][lane] = inside ? load(mine.rows.value(key) + lane * L::kCols) : uint4{};
    }
    __syncthreads();  // the tile is here
    for (int row = 0; row < kKeys && first + row < mine.end; row += kAtOnce * L::kRows) {
      Vec<T> key[kAtOnce], value[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        key[i] = days::from_word<T>(k[row + i * L::kRows + L::row()][L::col() / L::kCols]);
        value[i] = days::from_word<T>(v[row + i * L::kRows + L::row()][L::col() / L::kCols]);
      }
      L::step(running, q, key, value, first + row, mine.end);
    }
  }
  L::join(running);
  parts.put(running, 0, warp);
  finish(p, work, mine, parts);
}

}  // namespace

template <class T>
void gqa_shared(const Decode<T>& p, cudaStream_t stream) {
  const Work work = prepare(p, kHeads, "shared");
  const int warps = std::min(kHeads, p.heads / p.kv_heads);
  for_dim(p.dim, [&](auto dim) {
    shared_kernel<T, dim><<<work.blocks, warps * days::kWarpSize, 0, stream>>>(p, work);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(gqa_shared, Decode, float, days::half, days::bf16);

}  // namespace day50
