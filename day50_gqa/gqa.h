// SPDX-License-Identifier: MIT
// Day 50: the launchers. The problem, attention of one token against a cache, is shared with days 49 and 51.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/attention/chunks.h"
#include "common/check.h"
#include "common/instantiate.h"
#include "common/problems/decode.h"
#include "common/types.h"
#include "common/util.h"

namespace day50 {

using days::Decode;
using days::for_dim;
using days::Half;

// Keys of a block: twice day 49's, because its results are those of a group, and every chunk has them.
inline constexpr int kChunk = 2 * days::attention::kChunkKeys;

template <class T>
void gqa_repeated(const Decode<T>&, cudaStream_t);
template <class T>
void gqa_shared(const Decode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void gqa_rows(const Decode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void gqa_columns(const Decode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void gqa_ring(const Decode<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what shared takes.
template <class T>
void exercise(const Decode<T>&, cudaStream_t);

// Bytes of workspace of all of them: how many blocks that share queries are done, in whole units of 16 bytes, and the
// results of each chunk of each head, if the cache were full.
template <class T>
size_t gqa_ticket_bytes(const Decode<T>& p) {
  return days::round_up(sizeof(unsigned) * static_cast<size_t>(p.batch) * static_cast<size_t>(p.heads),
                        size_t{16});
}
template <class T>
size_t gqa_workspace(const Decode<T>& p) {
  const int64_t parts = int64_t{p.batch} * p.heads * days::ceil_div(p.capacity, kChunk);
  return gqa_ticket_bytes(p) + days::attention::partials_bytes(parts, p.dim);
}

// Sets the counts to 0, which each launch leaves so again.
struct Tickets {};
template <class T>
Tickets gqa_tickets(const Decode<T>& p, cudaStream_t stream) {
  days::require(p.workspace.bytes >= gqa_workspace(p),
                "tickets: need a workspace of bytes:", gqa_workspace(p));
  CUDA_CHECK(cudaMemsetAsync(p.workspace.data, 0, gqa_ticket_bytes(p), stream));
  return {};
}

}  // namespace day50
