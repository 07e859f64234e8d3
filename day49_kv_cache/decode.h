// SPDX-License-Identifier: MIT
// Day 49: the launchers. The problem, attention of one token against a cache, is shared with days 50 and 51.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/attention/chunks.h"
#include "common/check.h"
#include "common/instantiate.h"
#include "common/problems/decode.h"
#include "common/util.h"

namespace day49 {

using days::Decode;
using days::for_dim;

template <class T>
void decode_block(const Decode<T>&, cudaStream_t);
template <class T>
void decode_warps(const Decode<T>&, cudaStream_t);
template <class T>
void decode_split(const Decode<T>&, cudaStream_t);
template <class T>
void decode_ticket(const Decode<T>&, cudaStream_t);
template <class T>
void decode_ring(const Decode<T>&, cudaStream_t);

// Chunks of all heads if the cache were full: the grid of split and of what follows.
template <class T>
int64_t decode_chunks(const Decode<T>& p) {
  return int64_t{p.batch} * p.heads * days::attention::chunks_of(p.capacity);
}

// Bytes of workspace of split: a partial result for each chunk; and of ticket and ring, which count each head's.
template <class T>
size_t split_workspace(const Decode<T>& p) {
  return days::attention::partials_bytes(decode_chunks(p), p.dim);
}
// Whole units of 16 bytes.
template <class T>
size_t ticket_bytes(const Decode<T>& p) {
  return days::round_up(sizeof(unsigned) * static_cast<size_t>(p.batch) * static_cast<size_t>(p.heads),
                        size_t{16});
}
template <class T>
size_t ticket_workspace(const Decode<T>& p) {
  return ticket_bytes(p) + split_workspace(p);
}

// Sets the counts of ticket and ring to 0, which each launch leaves so again.
struct Tickets {};
template <class T>
Tickets decode_tickets(const Decode<T>& p, cudaStream_t stream) {
  days::require(p.workspace.bytes >= ticket_workspace(p),
                "tickets: need a workspace of bytes:", ticket_workspace(p));
  CUDA_CHECK(cudaMemsetAsync(p.workspace.data, 0, ticket_bytes(p), stream));
  return {};
}

template <class T>
void exercise(const Decode<T>&, cudaStream_t);  // yours

}  // namespace day49
