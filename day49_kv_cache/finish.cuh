// SPDX-License-Identifier: MIT
// What ticket and ring share: which keys are a block's, and how the last block of a head merges.
#pragma once

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "day49_kv_cache/decode.h"

namespace day49 {

using days::attention::chunks_of;
using days::attention::HeadRows;
using days::attention::kChunkKeys;
using days::attention::kLog2E;
using days::attention::Lanes;
using days::attention::Partials;
using days::attention::Running;
using days::attention::WarpParts;

// A block's keys: `first` ... end - 1 of a head. `chunks` is how many blocks a head has.
template <class T, int kDim>
struct Chunk {
  int64_t of_row;  // the head's first block
  int row, chunk, sequence, head;
  HeadRows<T, kDim> rows;
  int first, end;

  __device__ Chunk(const Decode<T>& p, int chunks)
      : row(static_cast<int>(blockIdx.x) / chunks),
        chunk(static_cast<int>(blockIdx.x) % chunks),
        sequence(row / p.heads),
        head(row % p.heads),
        rows(p, sequence, head),
        first(chunk * kChunkKeys),
        end(min(first + kChunkKeys, rows.keys())) {
    of_row = int64_t{row} * chunks;
  }
  __device__ bool empty() const { return !rows.room || first >= rows.keys(); }
  __device__ bool last() const { return end == rows.keys(); }
  // One block of a head that has no room says so.
  __device__ void leave(const Decode<T>& p) const {
    if (!rows.room && chunk == 0) days::attention::write_nan<kDim>(p, sequence, head);
  }
};

// The end of a block of kWarps warps: where it is the last of its head it writes o and lse.
template <int kWarps, class T, int kDim>
__device__ void finish(const Decode<T>& p, const Chunk<T, kDim>& chunk,
                       const Running<Lanes<T, kDim>::kCols>& mine, WarpParts<kWarps, kDim>& parts,
                       const Partials& partials, unsigned* tickets) {
  static_assert(kWarps * days::kWarpSize >= kDim, "a thread has a column");
  const int col = static_cast<int>(threadIdx.x), used = chunks_of(chunk.rows.keys());
  parts.put(mine);
  __syncthreads();
  if (used > 1) {
    const int64_t at = chunk.of_row + chunk.chunk;
    if (col < kDim) {
      const days::attention::Part part = parts.total(col);
      partials.o[at * kDim + col] = part.o;
      if (col == 0) partials.lse[at] = part.lse;
    }
    __syncthreads();  // all have written, and none needs the parts any more
    if (!days::attention::draws_last_of(tickets + chunk.row, used)) return;
    parts.put(days::attention::share_of_partials<kWarps, kDim>(partials, chunk.of_row, used));
    __syncthreads();
  }
  if (col < kDim) days::attention::write_part(p, chunk.sequence, chunk.head, col, parts.total(col));
}

struct Launch {
  unsigned blocks;
  int chunks;  // of a head
  unsigned* tickets;
  Partials partials;
};

template <class T>
Launch prepare(const Decode<T>& p, const char* variant) {
  days::require_decode(p, variant);
  days::require_needs(p, variant, days::kDecodeAligned);
  days::require(p.workspace.bytes >= ticket_workspace(p), variant,
                ": needs a workspace of bytes:", ticket_workspace(p));
  p.setup.template get<Tickets>(variant);
  const int chunks = chunks_of(p.capacity);
  const unsigned blocks = days::decode_blocks(p, p.heads, chunks, variant);
  char* const data = static_cast<char*>(p.workspace.data);
  return {blocks, chunks, static_cast<unsigned*>(p.workspace.data),
          days::attention::partials_at(data + ticket_bytes(p), blocks, p.dim)};
}

}  // namespace day49
