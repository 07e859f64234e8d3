// SPDX-License-Identifier: MIT
//
// Attention of one token (decode.h) with keys and values in pages: a sequence's rows lie in any pages, and a
// table says in which. Kernel files see the struct; host files also its reference, its parallel version, its
// inputs and its tolerances (paged_decode_cpu.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/problems/decode.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace days {

// As Decode, but row t of sequence s and head h lies at k[table[s, t / page], h, t % page]. A sequence's table
// has a page for each of its rows, the new one too; what stands behind them in the table is read by nobody, as
// are the rows of a last page that are not in use and the pages that no table names. Sequences may share pages
// of rows that all of them have in use, but not a page that one of them appends to. A length that is negative
// (a slot without a sequence), or that the table has no room for, leaves k and v as they are and makes o and
// lse NaN. Tables lie on the device, where no launcher sees them: a number in use that is none of a page is
// undefined.
template <class T>
struct PagedDecode {
  const T* q;              // (sequences, heads, dim) with q_pitch
  const T* k_new;          // (sequences, kv_heads, dim) with new_pitch
  const T* v_new;          // likewise
  T* k;                    // (pages, kv_heads, page, dim) without gaps, changed in place
  T* v;                    // likewise
  const int32_t* table;    // (sequences, most_pages)
  const int32_t* lengths;  // (sequences): rows in use before the call
  T* o;                    // (sequences, heads, dim) with o_pitch, written only
  float* lse;              // (sequences, heads), written only
  int sequences, heads, kv_heads, dim;
  int page, most_pages;  // rows of a page, and pages of a sequence at most
  int64_t pages;
  float scale;  // of the scores, 1 / sqrt(dim) as a rule; positive
  HeadPitch q_pitch, new_pitch, o_pitch;
  Workspace workspace;
  int64_t rows_in_use;  // of all sequences after the call: for whoever counts bytes, no launcher reads it
};

// The most rows that a sequence's table has room for.
template <class T>
DAYS_HOST_DEVICE int capacity_of(const PagedDecode<T>& p) {
  return p.most_pages * p.page;
}

// Rows of a sequence after the call; 0 where it has no room for the new one, or there is no sequence.
template <class T>
DAYS_HOST_DEVICE int keys_of(const PagedDecode<T>& p, int sequence) {
  const int length = p.lengths[sequence];
  return has_room(length, capacity_of(p)) ? length + 1 : 0;
}

// The number of a row of k and v, in `dim` elements, which 32 bits hold for 2^39 elements of dim 128. An element's number is 64 bits
// wide: a cache of more than 2^31 elements is not large.
template <class T>
DAYS_HOST_DEVICE uint32_t row_in_page(const PagedDecode<T>& p, int32_t page, int kv_head, int row) {
  return (static_cast<uint32_t>(page) * static_cast<uint32_t>(p.kv_heads) + static_cast<uint32_t>(kv_head)) *
             static_cast<uint32_t>(p.page) +
         static_cast<uint32_t>(row);
}

// What every launcher asks of its problem.
template <class T>
void require_paged_decode(const PagedDecode<T>& p, const char* variant) {
  require(p.sequences > 0, variant, ": sequences must be positive, not", p.sequences);
  require(p.heads > 0, variant, ": heads must be positive, not", p.heads);
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0, variant, ": kv_heads must divide heads,", p.heads,
          "; kv_heads is", p.kv_heads);
  require(p.dim == 64 || p.dim == 128, variant, ": the head dimension is 64 or 128, not", p.dim);
  require(p.page > 0 && p.page <= kMaxSeq, variant, ": page must be 1 to 2^30, not", p.page);
  require(p.most_pages > 0 && int64_t{p.most_pages} * p.page <= kMaxSeq, variant,
          ": most_pages must be positive and most_pages * page at most 2^30; most_pages is", p.most_pages);
  require(p.pages > 0 && p.pages <= 0x7fffffff, variant, ": pages must be 1 to 2^31 - 1, not", p.pages);
  require(1.0 * static_cast<double>(p.pages) * p.kv_heads * p.page <= 0x1p32, variant,
          ": pages * kv_heads * page must be at most 2^32; pages is", p.pages);
  require(p.scale > 0 && p.scale < 1e30f, variant, ": scale must be positive and finite, not", p.scale);
  const auto apart = [&](HeadPitch pitch, int heads, const char* name) {
    require((p.sequences == 1 || pitch.sequence >= p.dim) && (heads == 1 || pitch.head >= p.dim), variant,
            ": ", name, " must keep rows of", p.dim, "elements apart; sequence is", pitch.sequence,
            ", head is", pitch.head);
  };
  apart(p.q_pitch, p.heads, "q_pitch");
  apart(p.new_pitch, p.kv_heads, "new_pitch");
  apart(p.o_pitch, p.heads, "o_pitch");
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/paged_decode_cpu.h"
#endif
