// SPDX-License-Identifier: MIT
//
// A block of four warps has a sequence and the queries that share a head of keys; a warp takes every fourth tile of 16 keys. Each lane asks the
// table for each row that it loads, and waits for the answer before it can ask for the row.
// Bound by: two waits a tile, one after the other, and the longest sequence.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) chased_kernel(const PagedDecode<T> p, float scale) {
  __shared__ BlockResult<T, kDim> result;
  const int columns = columns_of(p), sequence = static_cast<int>(blockIdx.x) / columns;
  const Group group(p, static_cast<int>(blockIdx.x) % columns);
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize, keys = keys_of(p, sequence);
  Columns<T, kDim> mine;
  mine.begin(p, sequence, group);
  for (int key = warp * kKeys; key < keys; key += kWarps * kKeys) {
    const int valid = keys - key;
    const auto row = [&](int i) { return i < valid ? row_of(p, sequence, group.kv_head, key + i) : 0; };
    TileBits<T, kDim> tile;
    tile.load_keys(p, valid, row);
    tile.load_values(p, valid, row);
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
void paged_chased(const PagedDecode<T>& p, cudaStream_t stream) {
  const unsigned blocks = paged_blocks(p, "chased");
  append(p, stream);
  for_dim(p.dim, [&](auto dim) {
    chased_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, scale_log2(p));
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(paged_chased, PagedDecode, days::half, days::bf16);

}  // namespace day51
