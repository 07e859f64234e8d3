// SPDX-License-Identifier: MIT
//
// Changed since chased: lane i looks up row i of the next tile while this tile's keys are on their way, and lanes hand each other what they
// found. One load from the table a tile in place of six, and nothing waits for it but the first tile.
// Bound by: the longest sequence, whose block runs when all others have ended.

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) ahead_kernel(const PagedDecode<T> p, float scale) {
  __shared__ BlockResult<T, kDim> result;
  const int columns = columns_of(p), sequence = static_cast<int>(blockIdx.x) / columns;
  const Group group(p, static_cast<int>(blockIdx.x) % columns);
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize, keys = keys_of(p, sequence);
  const auto look_up = [&](int key) {  // of the tile that begins at `key`, row `lane` for this lane
    const int wanted = key + lane();
    return lane() < kKeys && wanted < keys ? row_of(p, sequence, group.kv_head, wanted) : 0;
  };
  Columns<T, kDim> mine;
  mine.begin(p, sequence, group);
  uint32_t next = look_up(warp * kKeys);
  for (int key = warp * kKeys; key < keys; key += kWarps * kKeys) {
    const int valid = keys - key;
    const uint32_t rows = next;
    const auto row = [&](int i) { return __shfl_sync(days::kFullWarp, rows, i); };
    TileBits<T, kDim> tile;
    tile.load_keys(p, valid, row);
    tile.load_values(p, valid, row);
    next = look_up(key + kWarps * kKeys);
    float s[4];
    mine.score(tile, s);
    mine.weigh(s, valid, scale);
    mine.add(tile, s);
  }
  result.finish(p, sequence, group, mine);
}

}  // namespace

template <class T>
requires Half<T>
void paged_ahead(const PagedDecode<T>& p, cudaStream_t stream) {
  const unsigned blocks = paged_blocks(p, "ahead");
  append(p, stream);
  for_dim(p.dim, [&](auto dim) {
    ahead_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, scale_log2(p));
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(paged_ahead, PagedDecode, days::half, days::bf16);

}  // namespace day51
