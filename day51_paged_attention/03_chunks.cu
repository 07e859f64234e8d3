// SPDX-License-Identifier: MIT
//
// Changed since ahead: sequences are cut into chunks of 256 keys, a warp each. How many there are, the device alone knows: a block
// counts them and scans the counts (day 57), and writes a list. The grid is one for the longest sequences that the table has room for, so that a
// captured launch serves all lengths; warps beyond the list's end have nothing to do. A third kernel adds up the chunks' results.
// Bound by: four launches, and the warps without work.

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

constexpr int kListThreads = 1024;

template <class T>
__global__ void __launch_bounds__(kListThreads) list_kernel(const PagedDecode<T> p, const Partials all) {
  int before = 0;
  for (int first = 0; first < p.sequences; first += kListThreads) {
    const int sequence = first + static_cast<int>(threadIdx.x);
    const int chunks = sequence < p.sequences ? days::ceil_div(keys_of(p, sequence), kChunk) : 0;
    int total;
    const int start = before + days::block_exclusive_scan<kListThreads>(chunks, total);
    if (sequence < p.sequences) all.starts[sequence] = start;
    before += total;
  }
  if (threadIdx.x == 0) all.starts[p.sequences] = before;
  __syncthreads();
  for (int s = static_cast<int>(threadIdx.x) / days::kWarpSize; s < p.sequences;
       s += kListThreads / days::kWarpSize) {
    for (int i = lane(); i < all.starts[s + 1] - all.starts[s]; i += days::kWarpSize)
      all.list[all.starts[s] + i] = make_int2(s, i * kChunk);
  }
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    chunks_kernel(const PagedDecode<T> p, const Partials all, float scale) {
  const int columns = columns_of(p);
  const int64_t work = int64_t{blockIdx.x} * kWarps + threadIdx.x / days::kWarpSize, chunk = work / columns;
  if (chunk >= all.starts[p.sequences]) return;
  const Group group(p, static_cast<int>(work % columns));
  const int sequence = all.list[chunk].x, first = all.list[chunk].y;
  const int keys = min(keys_of(p, sequence), first + kChunk);
  const auto look_up = [&](int key) {
    const int wanted = key + lane();
    return lane() < kKeys && wanted < keys ? row_of(p, sequence, group.kv_head, wanted) : 0;
  };
  Columns<T, kDim> mine;
  mine.begin(p, sequence, group);
  uint32_t next = look_up(first);
  for (int key = first; key < keys; key += kKeys) {
    const int valid = keys - key;
    const uint32_t rows = next;
    const auto row = [&](int i) { return __shfl_sync(days::kFullWarp, rows, i); };
    TileBits<T, kDim> tile;
    tile.load_keys(p, valid, row);
    tile.load_values(p, valid, row);
    next = look_up(key + kKeys);
    float s[4];
    mine.score(tile, s);
    mine.weigh(s, valid, scale);
    mine.add(tile, s);
  }
  store_partial(p, all, chunk, group, mine);
}

}  // namespace

template <class T>
requires Half<T>
void paged_chunks(const PagedDecode<T>& p, cudaStream_t stream) {
  paged_blocks(p, "chunks");
  const Partials all = partials_of(p, "chunks");
  const unsigned blocks = days::grid_of(all.most * columns_of(p), kWarps, "chunks");
  append(p, stream);
  list_kernel<<<1, kListThreads, 0, stream>>>(p, all);
  CUDA_CHECK_LAUNCH();
  for_dim(p.dim, [&](auto dim) {
    chunks_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, all, scale_log2(p));
    CUDA_CHECK_LAUNCH();
  });
  merge(p, all, stream);
}

INSTANTIATE_LAUNCHER(paged_chunks, PagedDecode, days::half, days::bf16);

}  // namespace day51
