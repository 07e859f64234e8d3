// SPDX-License-Identifier: MIT
// Day 47: the launchers. The problem, the gradients of attention, is shared with later days.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/attention_backward.h"
#include "common/types.h"

namespace day47 {

using days::AttentionBackward;
using days::for_dim;
using days::Half;

// What all but naive need besides.
inline constexpr auto kAligned =
    days::needs("16-byte aligned arrays and rows", [](const auto& p) { return days::aligned_rows(p); });

// ---- Workspace ----

// Of each query lse and D (rows.cuh), in rows of a head that begin at 16 bytes and reach beyond the last query as far as the
// tiles of any rung do.
inline constexpr int kRowsTo = 128;
template <class T>
int64_t rows_pitch(const AttentionBackward<T>& p) {
  return days::round_up(static_cast<int64_t>(p.seq_q), kRowsTo);
}
template <class T>
size_t rows_workspace(const AttentionBackward<T>& p) {
  return 2 * sizeof(float) * static_cast<size_t>(p.batch) * static_cast<size_t>(p.heads) *
         static_cast<size_t>(rows_pitch(p));
}
// And a dq in fp32, to which blocks add.
template <class T>
size_t keys_workspace(const AttentionBackward<T>& p) {
  return rows_workspace(p) + sizeof(float) * static_cast<size_t>(p.batch) * static_cast<size_t>(p.heads) *
                                 static_cast<size_t>(p.seq_q) * static_cast<size_t>(p.dim);
}

template <class T>
void backward_naive(const AttentionBackward<T>&, cudaStream_t);
void backward_tiled(const AttentionBackward<float>&, cudaStream_t);
template <class T>
requires Half<T>
void backward_keys(const AttentionBackward<T>&, cudaStream_t);
template <class T>
requires Half<T>
void backward_apart(const AttentionBackward<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what tiled takes.
void exercise(const AttentionBackward<float>&, cudaStream_t);

}  // namespace day47
