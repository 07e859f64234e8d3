// SPDX-License-Identifier: MIT
// Day 51: the launchers. The problem is common/problems/paged_decode.h's. All of them append first, take whatever lengths and table
// the device has when they run, and give a sequence the same bits whatever its pages and its neighbours are.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/paged_decode.h"
#include "common/types.h"

namespace day51 {

using days::for_dim;
using days::Half;
using days::PagedDecode;

// Rows of o that a warp computes at once: as many as a tensor core has columns. A group of more queries that share keys is several.
inline constexpr int kQueries = 8;
template <class T>
DAYS_HOST_DEVICE int columns_of(const PagedDecode<T>& p) {
  return p.kv_heads * days::ceil_div(p.heads / p.kv_heads, kQueries);
}

// Writes k_new and v_new to their pages. In append.cu.
template <class T>
void append(const PagedDecode<T>& p, cudaStream_t stream);

// ---- chunks, shares: a warp has so many keys of a sequence, whatever the others are, and leaves a partial result ----

inline constexpr int kChunk = 256;

// What lies in the workspace. `most` is how many chunks there can be, for lengths as long as the table is wide.
struct Partials {
  int64_t most;
  int2* list;   // (most): sequence and first key of each chunk
  int* starts;  // (sequences + 1): of each sequence, where its chunks begin in the list
  float* lse;   // (heads, most)
  float* o;     // (heads, most, dim)
};

template <class T>
int64_t most_chunks(const PagedDecode<T>& p) {
  return int64_t{p.sequences} * days::ceil_div(capacity_of(p), kChunk);
}
template <class T>
size_t partials_workspace(const PagedDecode<T>& p) {
  const auto most = static_cast<size_t>(most_chunks(p)), starts = static_cast<size_t>(p.sequences) + 1;
  return sizeof(float) * static_cast<size_t>(p.heads) * most * (static_cast<size_t>(p.dim) + 1) + 16 +
         sizeof(int2) * most + sizeof(int) * starts;
}
template <class T>
Partials partials_of(const PagedDecode<T>& p, const char* variant) {
  days::require(p.workspace.bytes >= partials_workspace(p), variant,
                ": needs a workspace of bytes:", partials_workspace(p));
  Partials all;
  all.most = most_chunks(p);
  all.o = static_cast<float*>(p.workspace.data);
  all.lse = all.o + p.heads * all.most * p.dim;
  all.list = reinterpret_cast<int2*>(all.lse + days::round_up(p.heads * all.most, 4));
  all.starts = reinterpret_cast<int*>(all.list + all.most);
  return all;
}
// Adds up each sequence's partial results, in order. In merge.cu.
template <class T>
void merge(const PagedDecode<T>& p, const Partials& all, cudaStream_t stream);

// ---- launchers ----

// What shares needs: each block keeps where the chunks of all sequences begin.
inline constexpr auto kFewSequences =
    days::at_most("sequences", 8192, [](const auto& p) { return p.sequences; });

template <class T>
requires Half<T>
void paged_chased(const PagedDecode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void paged_ahead(const PagedDecode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void paged_chunks(const PagedDecode<T>&, cudaStream_t);
template <class T>
requires Half<T>
void paged_shares(const PagedDecode<T>&, cudaStream_t);

// Yours: exercise.cu.
template <class T>
requires Half<T>
void exercise(const PagedDecode<T>&, cudaStream_t);

}  // namespace day51
