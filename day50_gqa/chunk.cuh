// SPDX-License-Identifier: MIT
//
// What a block of this day has: some of the queries that share keys, a chunk of these keys, and in the end what its
// warps have made of parts of it. As in day 49 the last block of some queries merges what all of theirs have found.
#pragma once

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/attention/partials.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {

using days::attention::kLog2E;

// Where blocks leave their results, and how many of them there are.
struct Work {
  unsigned blocks;
  int chunks;         // of a head
  unsigned* tickets;  // one for all chunks of a block's queries
  days::attention::Partials partials;
};

// Of a grid whose blocks have up to `heads` queries of a group, and a chunk of their keys.
template <class T>
Work prepare(const Decode<T>& p, int heads, const char* variant) {
  days::require_decode(p, variant);
  days::require_needs(p, variant, days::kDecodeAligned);
  days::require(p.workspace.bytes >= gqa_workspace(p), variant,
                ": needs a workspace of bytes:", gqa_workspace(p));
  p.setup.template get<Tickets>(variant);
  const int chunks = days::ceil_div(p.capacity, kChunk);
  const int64_t each = int64_t{days::ceil_div(p.heads / p.kv_heads, heads)} * chunks;
  char* const data = static_cast<char*>(p.workspace.data);
  return {
      days::decode_blocks(p, p.kv_heads, each, variant), chunks, static_cast<unsigned*>(p.workspace.data),
      days::attention::partials_at(data + gqa_ticket_bytes(p), int64_t{p.batch} * p.heads * chunks, p.dim)};
}

// Up to `most` queries of one group, and a chunk of their keys. In the grid the chunks of these queries lie side by side,
// then those of the group's next queries, then those of the next group.
struct Place {
  int chunk, sequence, head, heads;  // `head` is the first query's, `heads` how many there are

  template <class T>
  __device__ Place(const Decode<T>& p, int chunks, int most) {
    const int group = p.heads / p.kv_heads, parts = days::ceil_div(group, most);
    int at = static_cast<int>(blockIdx.x);
    chunk = at % chunks;
    at /= chunks;
    const int skipped = at % parts * most;
    at /= parts;
    head = at % p.kv_heads * group + skipped;
    heads = min(most, group - skipped);
    sequence = at / p.kv_heads;
  }
};

template <class T, int kDim, int kHeads>
struct Block : Place {
  days::attention::HeadRows<T, kDim> rows;
  int first, end;  // keys

  __device__ Block(const Decode<T>& p, int chunks)
      : Place(p, chunks, kHeads),
        rows(p, sequence, head),
        first(chunk * kChunk),
        end(min(first + kChunk, rows.keys())) {}

  __device__ bool empty() const { return !rows.room || first >= rows.keys(); }
  // What a block does that has nothing to do: one of them says that there is no room.
  __device__ void leave(const Decode<T>& p) const {
    if (rows.room || chunk > 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < heads * kDim; i += static_cast<int>(blockDim.x))
      days::attention::write_part(p, sequence, head + i / kDim, i % kDim, {NAN, NAN});
  }
  // The new row goes to the cache, by the one block that has it and the group's first query.
  __device__ void append() const {
    if (end == rows.keys()) rows.append();
  }
  // Query h of the block's; of those that there are not, the first.
  __device__ const T* query(const Decode<T>& p, int h) const {
    return p.q + p.q_pitch.at(sequence, head + (h < heads ? h : 0));
  }
};

// The block brings kRows rows, from `first` on, to shared memory, 16 bytes a thread; zeros beyond its last key, because
// what lies where nobody looks is multiplied by a weight of 0, and 0 times NaN is NaN.
template <int kThreads, int kRows, class Tile, class Block>
__device__ __forceinline__ void load_tiles(Tile& k, Tile& v, const Block& mine, int first) {
#pragma unroll
  for (int i = 0; i < kRows * Tile::kChunks; i += kThreads) {
    const int at = i + static_cast<int>(threadIdx.x), row = at / Tile::kChunks, chunk = at % Tile::kChunks;
    uint4 key = {}, value = {};
    if (first + row < mine.end) {
      const int col = chunk * days::attention::kChunk;
      key = *reinterpret_cast<const uint4*>(mine.rows.key(first + row) + col);
      value = *reinterpret_cast<const uint4*>(mine.rows.value(first + row) + col);
    }
    *reinterpret_cast<uint4*>(k.at(row, chunk)) = key;
    *reinterpret_cast<uint4*>(v.at(row, chunk)) = value;
  }
}

// What kWarps warps have made of parts of a chunk, for kHeads queries. `most` is times log2(e). kPad floats behind each
// row keep a warp's stores apart.
template <int kWarps, int kHeads, int kDim, int kPad>
struct alignas(16) Parts {
  using Columns = days::Vec<float, 4>;
  float o[kWarps][kHeads][kDim + kPad];  // before the division by the sum
  float most[kWarps][kHeads], sum[kWarps][kHeads];

  // Of a warp that has one query, as day 49 leaves it.
  template <int kCols>
  __device__ void put(const days::attention::Running<kCols>& mine, int warp, int h) {
    const int col = static_cast<int>(threadIdx.x) % days::kWarpSize * kCols;
    if (col >= kDim) return;
#pragma unroll
    for (int i = 0; i < kCols; ++i) o[warp][h][col + i] = mine.o[i];
    if (col == 0) {
      most[warp][h] = mine.most;
      sum[warp][h] = mine.sum;
    }
  }

  // Four columns of all warps, once these have met at a barrier.
  __device__ days::attention::Running<4> total(int h, int col) const {
    days::attention::Running<4> all;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) all.rise(most[warp][h]);
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      const float factor = all.weight(most[warp][h]);
      all.sum = fmaf(sum[warp][h], factor, all.sum);
      const float4 columns = *reinterpret_cast<const float4*>(&o[warp][h][col]);
      all.o[0] = fmaf(columns.x, factor, all.o[0]);
      all.o[1] = fmaf(columns.y, factor, all.o[1]);
      all.o[2] = fmaf(columns.z, factor, all.o[2]);
      all.o[3] = fmaf(columns.w, factor, all.o[3]);
    }
    return all;
  }
};

// Four columns of the first `count` results of chunks from `at` on.
template <int kDim>
__device__ days::attention::Running<4> merge(const days::attention::Partials& from, int64_t at, int count,
                                             int col) {
  constexpr int kAtOnce = 8;  // whose loads are under way together
  days::attention::Running<4> all;
  for (int i = 0; i < count; i += kAtOnce) {
    float score[kAtOnce];
    days::Vec<float> o[kAtOnce] = {};
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      score[j] = -INFINITY;
      if (i + j >= count) continue;
      score[j] = __ldcg(from.lse + at + i + j) * kLog2E;
      o[j] =
          days::from_word<float>(__ldcg(reinterpret_cast<const uint4*>(from.o + (at + i + j) * kDim + col)));
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) all.rise(score[j]);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) all.add(all.weight(score[j]), o[j]);
  }
  return all;
}

// The end of a block whose warps have put their parts: where it is the last one of its queries it writes o and lse.
template <class T, int kDim, int kHeads, class Parts>
__device__ void finish(const Decode<T>& p, const Work& work, const Block<T, kDim, kHeads>& mine,
                       const Parts& parts) {
  using days::attention::Running;
  constexpr int kThreads = kDim / 4;  // of a query
  const int used = days::ceil_div(mine.rows.keys(), kChunk);
  const auto for_columns = [&](const auto& of, const auto& to) {
    for (int i = static_cast<int>(threadIdx.x); i < mine.heads * kThreads;
         i += static_cast<int>(blockDim.x)) {
      const int h = i / kThreads, col = i % kThreads * 4;
      const int64_t at = (int64_t{mine.sequence} * p.heads + mine.head + h) * work.chunks;
      const Running<4> all = of(h, col, at);
      const float share = 1 / all.sum;
      to(h, col, at, days::Vec<float>{all.o[0] * share, all.o[1] * share, all.o[2] * share, all.o[3] * share},
         (all.most + log2f(all.sum)) / kLog2E);
    }
  };
  const auto total = [&](int h, int col, int64_t) { return parts.total(h, col); };
  const auto write = [&](int h, int col, int64_t, const days::Vec<float>& o, float lse) {
    T* const to = p.o + p.o_pitch.at(mine.sequence, mine.head + h) + col;
    days::Vec<T, 4> four;
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = days::from_float<T>(o[i]);
    if constexpr (sizeof four == 16) {
      days::store16(to, four);
    } else {
      days::store8(to, four);
    }
    if (col == 0) p.lse[int64_t{mine.sequence} * p.heads + mine.head + h] = lse;
  };
  __syncthreads();  // all parts are there
  if (used == 1) return for_columns(total, write);
  for_columns(total, [&](int, int col, int64_t at, const days::Vec<float>& o, float lse) {
    days::store16(work.partials.o + (at + mine.chunk) * kDim + col, o);
    if (col == 0) work.partials.lse[at + mine.chunk] = lse;
  });
  __syncthreads();  // all have written
  if (!days::attention::draws_last_of(work.tickets + blockIdx.x / static_cast<unsigned>(work.chunks), used))
    return;
  for_columns([&](int, int col, int64_t at) { return merge<kDim>(work.partials, at, used, col); }, write);
}

}  // namespace day50
