// SPDX-License-Identifier: MIT
//
// Exercise: a block that has all queries of a group, and asks for each key and value once.
// Gates: every element right for every shape; no race; at most 1.1 bytes asked for each byte of input (repeated asks for
// 8); at most 10% of the moved bytes unasked for.
//   ./days check 50     tells how far you are        ./days hint 50     when you are stuck
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

constexpr int kHeads = 16;                   // queries, and warps, that a block has at most
constexpr int kKeys = 32;                    // of a tile
[[maybe_unused]] constexpr int kAtOnce = 4;  // requests of a warp

// Keys and values: the 16 bytes that lane i of a row has are k[row][i] and v[row][i].
template <class T, int kDim>
struct Tile {
  uint4 k[kKeys][Lanes<T, kDim>::kRowLanes], v[kKeys][Lanes<T, kDim>::kRowLanes];
};

template <class T>
[[maybe_unused]] __device__ uint4 load(const T* from) {
  return *reinterpret_cast<const uint4*>(from);
}

template <class T, int kDim>
__global__ void __launch_bounds__(kHeads* days::kWarpSize)
    exercise_kernel(const Decode<T> p, const Work work) {
  using L [[maybe_unused]] = Lanes<T, kDim>;
  __shared__ Tile<T, kDim> tile;
  __shared__ Parts<1, kHeads, kDim, 0> parts;
  [[maybe_unused]] const Block<T, kDim, kHeads> mine(p, work.chunks);
  [[maybe_unused]] auto& [k, v] = tile;
  // 1. As in repeated: a block without keys leaves; the new row is appended; a warp fetches its query, number `warp` of the
  //    block's.
  // 2. For each tile of 32 keys: all threads bring it to k and v, 16 bytes at a time, by load(). The block's keys are
  //    mine.first ... mine.end - 1, and lie at mine.rows.key(j) and mine.rows.value(j). What belongs into rows beyond them?
  // 3. Each warp goes over the whole tile: kAtOnce * L::kRows keys from shared memory (a lane's row is L::row(), its first
  //    column L::col()), then L::step.
  // 4. As in repeated: lanes join, parts are put (this time it is one part for each query), the block finishes.
  // Where does a thread rely on what another has written, or overwrite what another may still read?
  // your code
}

}  // namespace

template <class T>
void exercise(const Decode<T>& p, cudaStream_t stream) {
  const Work work = prepare(p, kHeads, "exercise");
  const int warps = std::min(kHeads, p.heads / p.kv_heads);
  for_dim(p.dim, [&](auto dim) {
    exercise_kernel<T, dim><<<work.blocks, warps * days::kWarpSize, 0, stream>>>(p, work);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, Decode, float, days::half, days::bf16);

}  // namespace day50
