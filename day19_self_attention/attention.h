// SPDX-License-Identifier: MIT
// Day 19: the problem, the memory that its scores take, and the launchers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/attention.h"
#include "common/types.h"
#include "common/workspace.h"

namespace day19 {

using days::Attention;
using days::Half;

// o = softmax(scale * q k^T) v with a matrix of scores that is stored: attention as all attention days have it, and the
// memory that the scores of some heads go to. The heads take turns there.
template <class T>
struct SelfAttention : days::Attention<T> {
  int at_once;  // heads whose scores are stored at the same time; 0: as many as fit into 4 GiB, but one at least
  days::Workspace workspace;
};

// What tensor cores' rungs need besides.
inline constexpr auto kAligned = days::needs(
    "16-byte aligned q, k, v, o", [](const auto& p) { return days::aligned16(p.q, p.k, p.v, p.o); });

// From tiled on a row of scores takes whole tiles of keys, so that a tile of weights has no end of its own.
inline constexpr int kKeys = 64;
template <class T>
DAYS_HOST_DEVICE int64_t pitch_of(const Attention<T>& p) {
  return days::round_up(int64_t{p.seq_k}, int64_t{kKeys});
}

// ---- The workspace ----

template <class T>
size_t head_bytes(const Attention<T>& p, int64_t pitch, size_t bytes_a_score) {
  return bytes_a_score * static_cast<size_t>(p.seq_q) * static_cast<size_t>(pitch);
}
template <class T>
int64_t heads_at_once(const SelfAttention<T>& p, size_t of_head) {
  const int64_t heads = int64_t{p.batch} * p.heads;
  const int64_t fit = p.at_once > 0 ? p.at_once : static_cast<int64_t>((size_t{4} << 30) / of_head);
  return std::clamp<int64_t>(fit, 1, std::min(heads, int64_t{1} << 30));
}
template <class T>
size_t workspace_of(const SelfAttention<T>& p, size_t of_head) {
  return of_head * static_cast<size_t>(heads_at_once(p, of_head));
}
// fp32 scores, and fp32 weights.
template <class T>
size_t three_workspace(const SelfAttention<T>& p) {
  return workspace_of(p, head_bytes(p, p.seq_k, 2 * sizeof(float)));
}
// Scores, and weights over them.
template <class T>
size_t in_place_workspace(const SelfAttention<T>& p) {
  return workspace_of(p, head_bytes(p, p.seq_k, sizeof(float)));
}
// The same in rows of whole tiles.
template <class T>
size_t tiles_workspace(const SelfAttention<T>& p) {
  return workspace_of(p, head_bytes(p, pitch_of(p), sizeof(float)));
}

// Calls launch(part) for as many heads at a time as are stored at once; `part` is the problem of these heads, in one
// batch. The launches follow each other in one stream, so that a head's scores may lie where another's were.
template <class T, class Launch>
void for_heads(const SelfAttention<T>& p, size_t of_head, const char* variant, const Launch& launch) {
  days::require_attention(p, variant);
  days::require(p.at_once >= 0, variant, ": at_once must be 0 or a number of heads, not", p.at_once);
  days::require(p.workspace.bytes >= workspace_of(p, of_head), variant, ": scores take",
                workspace_of(p, of_head), "bytes of workspace, and it has", p.workspace.bytes);
  days::require(days::aligned16(p.workspace.data), variant, ": needs a 16-byte aligned workspace");
  const int64_t heads = int64_t{p.batch} * p.heads, fit = heads_at_once(p, of_head);
  for (int64_t first = 0; first < heads; first += fit) {
    Attention<T> part = p;
    part.batch = 1;
    part.heads = static_cast<int>(std::min(fit, heads - first));
    part.q += first * p.seq_q * p.dim;
    part.k += first * p.seq_k * p.dim;
    part.v += first * p.seq_k * p.dim;
    part.o += first * p.seq_q * p.dim;
    part.lse += first * p.seq_q;
    launch(part);
  }
}

// The blocks of a grid in which each has `each` of `count` elements a head.
template <class T>
unsigned blocks_for(const Attention<T>& p, int64_t count, int64_t each, const char* variant) {
  const double blocks = static_cast<double>(p.heads) * static_cast<double>(days::ceil_div(count, each));
  days::require(blocks <= static_cast<double>(days::kMaxGridX), variant,
                ": a grid has at most 2147483647 blocks, not", blocks);
  return static_cast<unsigned>(blocks);
}

template <class T>
void self_three(const SelfAttention<T>&, cudaStream_t);
template <class T>
void self_in_place(const SelfAttention<T>&, cudaStream_t);
template <class T>
void self_tiled(const SelfAttention<T>&, cudaStream_t);
template <class T>
requires Half<T>
void self_tensor(const SelfAttention<T>&, cudaStream_t);
template <class T>
requires Half<T>
void self_lower(const SelfAttention<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what in_place takes.
template <class T>
void exercise(const SelfAttention<T>&, cudaStream_t);

}  // namespace day19
