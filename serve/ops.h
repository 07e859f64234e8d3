// SPDX-License-Identifier: MIT
//
// What a generator needs beside the days' kernels and the product. It computes rows: a row is a token of some sequence at some position,
// and rows of a prompt and of many sequences' next tokens are alike. Sequences have slots, whose state lies on the device, so that no
// launch depends on how long they are. Nothing waits. T: float, half or bf16. Each row's bits are the same whatever the other rows are.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/types.h"

namespace serve {

inline constexpr int kPage = 16;             // tokens of a page of keys and values
inline constexpr int kMostCandidates = 256;  // of sampling with top_k or top_p

// How a sequence's tokens are chosen.
struct Choice {
  uint64_t seed;
  float temperature;  // 0: the likeliest
  float top_p;        // 1: all
  int32_t top_k;      // 0: all
};

// A slot's state. `table`: (most_pages) of each slot, one after the other.
struct Slots {
  int32_t* lengths;  // (slots): tokens in the cache
  int32_t* last;     // (slots): the token after these, which is not in the cache yet
  Choice* choices;   // (slots)
  int32_t* table;    // (slots, most_pages)
  int most_pages;
};
// Rows. A slot of -1 is a row of padding: it is computed with, and leaves nothing behind.
struct Rows {
  int32_t* slots;      // (rows)
  int32_t* tokens;     // (rows)
  int32_t* positions;  // (rows)
};

// The rows of a decode step: of each slot of rows.slots its last token, at the position behind its cache.
void take_last(const Rows& rows, const Slots& slots, int count, cudaStream_t stream);

// x[row] = the embedding of its token, and that of its position where `positions` is not null; NaN for a token that is none.
template <class T>
void embed(const T* tokens, const T* positions, const Rows& rows, T* x, int count, int vocab, int width,
           cudaStream_t stream);

// A layer's attention. qkv: (rows, heads + 2 kv_heads, dim); keys, values: (pages, kv_heads, kPage, dim).
template <class T>
struct Attend {
  T* qkv;
  T *keys, *values;
  T* o;  // (rows, heads, dim)
  const float*
      frequency;  // (dim / 2): radians that a pair turns from a position to the next; null: nothing turns
  int count;      // rows
  int heads, kv_heads, dim;
  float scale;
};
// Turns q and k of each row, and writes k and v into the pages.
template <class T>
void append(const Attend<T>&, const Rows&, const Slots&, cudaStream_t);
// Each row attends to its sequence's keys up to its own position. All of them have to be in the pages.
template <class T>
void attend(const Attend<T>&, const Rows&, const Slots&, cudaStream_t);

// The same of rows of one text at positions in a row, on tensor cores: half and bf16, from compute capability 8.0 on.
template <class T>
void attend_prompt(const Attend<T>&, const Rows&, const Slots&, cudaStream_t);

// Chooses a token for each row of logits, (count, pitch) with `vocab` of them valid, and writes it to `chosen` and to the slot's `last`,
// whose length becomes the row's position + 1. slots: rows' slots; positions: likewise. A row with a NaN or a plus infinity gets -1, and `last` stays.
//
// A temperature of 0 takes the greatest logit, and the lowest id of equals. Any other takes the greatest of logit / temperature + G, with G
// from the seed, the position and the token alone. With top_k only the k greatest take part, lower ids first among equals; with top_p
// below 1 as many of the greatest (of the 256 greatest at most) as reach that share of the chance, and the greatest always.
// early: may begin before the kernel ahead of it has ended (common/dependent.h).
struct ChooseMemory {
  void* data;  // choose_bytes(rows, vocab), which are 0 before the first launch
  int rows;    // at least those of a launch
};
size_t choose_bytes(int rows, int vocab);
void choose(const float* logits, int64_t pitch, int vocab, const int32_t* row_slots, const int32_t* positions,
            const Slots& slots, int32_t* chosen, int count, const ChooseMemory& memory, bool early,
            cudaStream_t stream);

}  // namespace serve
