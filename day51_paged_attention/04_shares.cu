// SPDX-License-Identifier: MIT
//
// Changed since chunks: as many blocks as the device holds, each warp with an equal share of all chunks, one after the other, over the borders of
// sequences. Each block scans the counts for itself, so no list is written. A tile's keys are asked for as soon as those before them have
// become scores, and its values as soon as those before are added up: also those of the next chunk, of another sequence.
// Bound by: memory.

#include <cstdint>

#include "common/check.h"
#include "common/cooperative.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

// Where a warp is: a tile of 16 keys of a chunk, in the order of the list for one head of keys after the other.
struct Place {
  int columns, chunk, sequence, key, keys;  // keys: the chunk's end

  // A chunk's first tile. starts (sequences + 1): where the chunks of each sequence begin; `sequence` is the chunk's or one before.
  template <class T>
  __device__ void enter(const PagedDecode<T>& p, const int* starts) {
    while (starts[sequence + 1] <= chunk) ++sequence;
    key = (chunk - starts[sequence]) * kChunk;
    keys = min(keys_of(p, sequence), key + kChunk);
  }
  __device__ bool last() const { return key + kKeys >= keys; }
  // The next tile.
  template <class T>
  __device__ void advance(const PagedDecode<T>& p, const int* starts) {
    if (!last()) {
      key += kKeys;
      return;
    }
    if (++chunk == starts[p.sequences]) {
      chunk = sequence = 0;
      ++columns;
    }
    enter(p, starts);
  }
};

// Where the chunks of each sequence begin, to `starts` of all blocks and for the merge.
template <class T>
__device__ void scan_chunks(const PagedDecode<T>& p, int* starts, int* for_merge) {
  int before = 0;
  for (int first = 0; first < p.sequences; first += kThreads) {
    const int sequence = first + static_cast<int>(threadIdx.x);
    const int chunks = sequence < p.sequences ? days::ceil_div(keys_of(p, sequence), kChunk) : 0;
    int total;
    const int start = before + days::block_exclusive_scan<kThreads>(chunks, total);
    if (sequence < p.sequences) {
      starts[sequence] = start;
      if (blockIdx.x == 0) for_merge[sequence] = start;
    }
    before += total;
  }
  if (threadIdx.x == 0) {
    starts[p.sequences] = before;
    if (blockIdx.x == 0) for_merge[p.sequences] = before;
  }
  __syncthreads();
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads, 3)
    shares_kernel(const PagedDecode<T> p, const Partials all, float scale) {
  extern __shared__ int starts[];  // (sequences + 1)
  scan_chunks(p, starts, all.starts);
  const int chunks = starts[p.sequences];
  const int64_t work = int64_t{chunks} * columns_of(p), warps = int64_t{gridDim.x} * kWarps;
  const int64_t warp = int64_t{blockIdx.x} * kWarps + threadIdx.x / days::kWarpSize;
  int left = static_cast<int>((warp + 1) * work / warps - warp * work / warps);  // chunks of this warp
  if (left == 0) return;
  Place at = {static_cast<int>(warp * work / warps / chunks), static_cast<int>(warp * work / warps % chunks),
              0, 0, 0};
  for (int step = 1 << (31 - __clz(p.sequences)); step > 0;
       step /= 2) {  // the last sequence that begins there or before
    if (at.sequence + step < p.sequences && starts[at.sequence + step] <= at.chunk) at.sequence += step;
  }
  at.enter(p, starts);

  const auto look_up = [&](const Place& place) {
    const int key = place.key + lane();
    return lane() < kKeys && key < place.keys
               ? row_of(p, place.sequence, Group(p, place.columns).kv_head, key)
               : 0;
  };
  uint32_t rows = look_up(at);
  const auto row = [&](int i) { return __shfl_sync(days::kFullWarp, rows, i); };
  TileBits<T, kDim> tile;
  tile.load_keys(p, at.keys - at.key, row);
  tile.load_values(p, at.keys - at.key, row);
  Columns<T, kDim> mine;
  mine.begin(p, at.sequence, Group(p, at.columns));
  while (true) {
    const bool last = at.last();
    const bool more = !last || left > 1;
    Place next = at;
    if (more) {
      next.advance(p, starts);
      rows = look_up(next);
    }
    const int valid = more ? next.keys - next.key : 0;
    float s[4];
    mine.score(tile, s);
    tile.load_keys(p, valid, row);
    mine.weigh(s, at.keys - at.key, scale);
    mine.add(tile, s);
    tile.load_values(p, valid, row);
    if (last) {
      store_partial(p, all, at.chunk, Group(p, at.columns), mine);
      if (--left == 0) return;
      mine.begin(p, next.sequence, Group(p, next.columns));
    }
    at = next;
  }
}

}  // namespace

template <class T>
requires Half<T>
void paged_shares(const PagedDecode<T>& p, cudaStream_t stream) {
  paged_blocks(p, "shares");
  days::require_needs(p, "shares", kFewSequences);
  const Partials all = partials_of(p, "shares");
  append(p, stream);
  for_dim(p.dim, [&](auto dim) {
    const size_t bytes = sizeof(int) * (static_cast<size_t>(p.sequences) + 1);
    const int resident = days::resident_blocks(shares_kernel<T, dim>, kThreads, bytes);
    shares_kernel<T, dim>
        <<<static_cast<unsigned>(resident), kThreads, bytes, stream>>>(p, all, scale_log2(p));
    CUDA_CHECK_LAUNCH();
  });
  merge(p, all, stream);
}

INSTANTIATE_LAUNCHER(paged_shares, PagedDecode, days::half, days::bf16);

}  // namespace day51
