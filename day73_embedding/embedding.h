// SPDX-License-Identifier: MIT
// Day 73: rows of a table by number, and the gradient of the table. Launchers on device pointers; they throw
// std::invalid_argument that names the value where they do not support a problem.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day73 {

// y[t] = w[tokens[t]]. A token that is none of 0 ... vocab - 1 makes its row of y NaN.
template <class T>
struct Embedding {
  const T* w;             // (vocab, width)
  const int32_t* tokens;  // (count)
  T* y;                   // (count, width)
  int count, vocab, width;
  int64_t distinct;  // words that tokens name: for whoever counts bytes, no launcher reads it
};

// dw[v] = the sum of dy[t] over all t with tokens[t] = v, added up in fp32 and rounded once. All of dw is written: 0 where no token
// is v, and where v is `padding`. A token that is no word has no gradient.
template <class T>
struct EmbeddingBackward {
  const T* dy;            // (count, width)
  const int32_t* tokens;  // (count)
  T* dw;                  // (vocab, width)
  int count, vocab, width;
  int padding;  // -1: no word is padding
  days::Workspace workspace;
};

DAYS_HOST_DEVICE inline bool is_word(int32_t token, int vocab) {
  return token >= 0 && token < vocab;
}
DAYS_HOST_DEVICE inline bool has_gradient(int32_t token, int vocab, int padding) {
  return is_word(token, vocab) && token != padding;
}

inline constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;

// ---- what the launchers need ----

inline constexpr auto kRowsOf16Bytes = days::needs("rows of aligned 16 bytes", [](const auto& p) {
  if constexpr (requires { p.w; }) {
    return p.width * sizeof(*p.y) % 16 == 0 && days::aligned16(p.w, p.y);
  } else {
    return p.width * sizeof(*p.dy) % 16 == 0 && days::aligned16(p.dy, p.dw);
  }
});
inline constexpr auto kFours = days::needs("rows of aligned fours", [](const auto& p) {
  return p.width % 4 == 0 && reinterpret_cast<uintptr_t>(p.dy) % (4 * sizeof(*p.dy)) == 0 &&
         reinterpret_cast<uintptr_t>(p.dw) % (4 * sizeof(*p.dw)) == 0;
});

template <class P>
void require_problem(const P& p, const char* variant) {
  days::require(p.count > 0, variant, ": count must be positive, not", p.count);
  days::require(p.vocab > 0, variant, ": vocab must be positive, not", p.vocab);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
}
// And gives the workspace, of which so many bytes are needed.
template <class T>
char* workspace_of(const EmbeddingBackward<T>& p, size_t needed, const char* variant) {
  require_problem(p, variant);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<char*>(p.workspace.data);
}

// atomic and atomic_wide: fp32 sums, which are dw itself where that is fp32.
template <class T>
size_t sums_workspace(const EmbeddingBackward<T>& p) {
  if constexpr (std::is_same_v<T, float>) return 0;
  return sizeof(float) * static_cast<size_t>(p.vocab) * static_cast<size_t>(p.width);
}

// ---- tokens in order ----

// The rows of dy that belong to word v are places[i], for i from starts[v] up to, not including, starts[v + 1], smallest first.
// From starts[vocab] on are the places of tokens without a gradient.
struct Places {
  const uint32_t* words;   // (count): of each place its word, ascending; vocab where there is no gradient
  const uint32_t* places;  // (count)
  const int32_t* starts;   // (vocab + 1)
};

// Bytes of scratch memory, a multiple of 16, and the launches that make `Places` in it. In places.cu.
size_t places_workspace(int count, int vocab);
Places sort_tokens(const int32_t* tokens, int count, int vocab, int padding, void* memory,
                   cudaStream_t stream);

template <class T>
size_t sorted_workspace(const EmbeddingBackward<T>& p) {
  return places_workspace(p.count, p.vocab);
}

// pieces: so many places in order are a warp's. Of each piece two partial sums of a row: that of the word at its beginning, where the
// piece before has some of it, and that of the word at its end, where the next one has.
inline constexpr int kPiece = 64;
enum Side { kAtBegin, kAtEnd };
template <class T>
size_t pieces_workspace(const EmbeddingBackward<T>& p) {
  return sorted_workspace(p) + 2 * sizeof(float) * static_cast<size_t>(days::ceil_div(p.count, kPiece)) *
                                   static_cast<size_t>(p.width);
}

// ---- launchers ----

template <class T>
void embedding_gather(const Embedding<T>&, cudaStream_t);
template <class T>
void embedding_gather_rows(const Embedding<T>&, cudaStream_t);

template <class T>
void embedding_atomic(const EmbeddingBackward<T>&, cudaStream_t);
template <class T>
void embedding_atomic_wide(const EmbeddingBackward<T>&, cudaStream_t);
template <class T>
void embedding_sorted(const EmbeddingBackward<T>&, cudaStream_t);
template <class T>
void embedding_pieces(const EmbeddingBackward<T>&, cudaStream_t);
template <class T>
void exercise(const EmbeddingBackward<T>&, cudaStream_t);  // yours

// ---- on the CPU, host pointers ----

// Loops in double, and what all cores do.
template <class T>
void embedding_reference(const Embedding<T>&);
template <class T>
void embedding_parallel(const Embedding<T>&);
template <class T>
void backward_reference(const EmbeddingBackward<T>&);
template <class T>
void backward_parallel(const EmbeddingBackward<T>&);
// How often the word occurs that occurs most often, of those with a gradient.
int longest_row(const int32_t* tokens, int count, int vocab, int padding);

}  // namespace day73
