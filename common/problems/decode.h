// SPDX-License-Identifier: MIT
//
// Attention of a model that writes a token at a time: a query for each head against a cache of the keys and
// values of all tokens before, to which the token's own are added. Kernel files see the struct; host files
// also its reference, its parallel version, its inputs and its tolerances (decode_cpu.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/problems/attention.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace days {

// Of an array of rows of `dim` elements, one for each head of each sequence: that of head h of sequence b
// begins b * sequence + h * head elements further on. So what a layer computes in one product, (batch, heads
// + 2 * kv_heads, dim), is read where it lies.
struct HeadPitch {
  int64_t sequence = 0, head = 0;

  DAYS_HOST_DEVICE int64_t at(int64_t b, int64_t h) const { return b * sequence + h * head; }
};
// Without gaps.
inline HeadPitch dense_pitch(int64_t heads, int64_t dim) {
  return {heads * dim, dim};
}

// Row lengths[b] of sequence b's k and v becomes k_new and v_new, and o is softmax(scale * q k^T) v over the
// lengths[b] + 1 rows that are there then. No other element of k and v changes, and what lies behind is
// nobody's: it may be NaN. Head h uses head h / (heads / kv_heads) of k and v. The lengths are read by the
// kernels, so a captured launch serves all of them; one that is negative, or that the cache has no room for,
// leaves k and v as they are and makes o and lse NaN.
template <class T>
struct Decode {
  const T* q;              // (batch, heads, dim) with q_pitch
  const T* k_new;          // (batch, kv_heads, dim) with new_pitch
  const T* v_new;          // likewise
  T* k;                    // (batch, kv_heads, capacity, dim) without gaps, changed in place
  T* v;                    // likewise
  const int32_t* lengths;  // (batch): rows in use before the call
  T* o;                    // (batch, heads, dim) with o_pitch, written only
  float* lse;              // (batch, heads), written only: log(sum over keys of exp(score))
  int batch, heads, kv_heads, capacity, dim;
  float scale;  // of the scores, 1 / sqrt(dim) as a rule; positive
  HeadPitch q_pitch, new_pitch, o_pitch;
  Workspace workspace;
  Setup setup;
};

// Whether a sequence of that length has room for one more.
DAYS_HOST_DEVICE inline bool has_room(int length, int capacity) {
  return length >= 0 && length < capacity;
}

// What every launcher asks of its problem.
template <class T>
void require_decode(const Decode<T>& p, const char* variant) {
  require(p.batch > 0, variant, ": batch must be positive, not", p.batch);
  require(p.heads > 0, variant, ": heads must be positive, not", p.heads);
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0, variant, ": kv_heads must divide heads,", p.heads,
          "; kv_heads is", p.kv_heads);
  require(p.capacity > 0 && p.capacity <= kMaxSeq, variant, ": capacity must be 1 to 2^30, not", p.capacity);
  require(p.dim == 64 || p.dim == 128, variant, ": the head dimension is 64 or 128, not", p.dim);
  require(p.scale > 0 && p.scale < 1e30f, variant, ": scale must be positive and finite, not", p.scale);
  const auto apart = [&](HeadPitch pitch, int heads, const char* name) {
    require((p.batch == 1 || pitch.sequence >= p.dim) && (heads == 1 || pitch.head >= p.dim), variant, ": ",
            name, " must keep rows of", p.dim, "elements apart; sequence is", pitch.sequence, ", head is",
            pitch.head);
  };
  apart(p.q_pitch, p.heads, "q_pitch");
  apart(p.new_pitch, p.kv_heads, "new_pitch");
  apart(p.o_pitch, p.heads, "o_pitch");
}

// What all need that move 16 bytes at a time.
inline constexpr auto kDecodeAligned =
    needs("16-byte aligned rows of q, k_new, v_new, k, v, o", [](const auto& p) {
      const auto whole = [&](HeadPitch pitch) {
        const int64_t step = 16 / static_cast<int64_t>(sizeof *p.q);
        return pitch.sequence % step == 0 && pitch.head % step == 0;
      };
      return aligned16(p.q, p.k_new, p.v_new, p.k, p.v, p.o) && whole(p.q_pitch) && whole(p.new_pitch) &&
             whole(p.o_pitch);
    });

// Blocks of a grid that has `each` for each of `heads` heads of each sequence; throws where that is more than
// a grid has.
template <class T>
unsigned decode_blocks(const Decode<T>& p, int heads, int64_t each, const char* variant) {
  const double blocks = 1.0 * p.batch * heads * static_cast<double>(each);
  require(blocks <= static_cast<double>(kMaxGridX), variant, ": a grid has at most 2147483647 blocks, not",
          blocks);
  return static_cast<unsigned>(blocks);
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/decode_cpu.h"
#endif
