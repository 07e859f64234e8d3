// SPDX-License-Identifier: MIT
// Day 74's second problem: the logits are a product, and what is wanted are the gradients of its factors. Products run on model/.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/workspace.h"
#include "day74_cross_entropy/cross_entropy.h"
#include "model/product.h"

namespace day74 {

// logits = x * w^T, in T. Loss and gradient of each row of them are CrossEntropy's; then dx = dlogits * w and dw = dlogits^T * x, all of
// both written. Sums are fp32, and so is dw, to which training adds. A row without a class to learn has loss and dx 0 or NaN; NaN is then in
// all of dw, as it is in the sum of the losses. Words from `classes` on are padding: dw is 0 there.
template <class T>
struct LinearCrossEntropy {
  const T* x;              // (rows, width)
  const T* w;              // (vocab, width)
  const int32_t* targets;  // (rows)
  const float* dloss;      // (rows)
  float* loss;             // (rows)
  T* dx;                   // (rows, width)
  float* dw;               // (vocab, width)
  int rows, width, vocab;
  int classes;  // <= vocab
  float smoothing;
  int ignore_index;
  days::Workspace workspace;
};

// Rows of logits begin a multiple of 16 bytes apart. What that adds to a row is padding, too.
inline constexpr int kRowOf = 8;
template <class T>
int logits_pitch(const LinearCrossEntropy<T>& p) {
  return days::round_up(p.vocab, kRowOf);
}

// ---- the steps of rows `first` to `first` + `count`, with their logits where the workspace begins ----

template <class T>
T* logits_in(const LinearCrossEntropy<T>& p) {
  return static_cast<T*>(p.workspace.data);
}
template <class T>
model::Product<T> logits_of(const LinearCrossEntropy<T>& p, int first, int count) {
  return {.a = {p.x + int64_t{first} * p.width, p.width},
          .b = {p.w, p.width},
          .c = {logits_in(p), logits_pitch(p)},
          .m = count,
          .n = p.vocab,
          .k = p.width,
          .op_b = model::Op::kT};
}
template <class T>
CrossEntropy<T> cross_entropy_of(const LinearCrossEntropy<T>& p, int first, int count) {
  return {logits_in(p),    p.targets + first, p.dloss + first, p.loss + first, count,
          logits_pitch(p), p.classes,         p.smoothing,     p.ignore_index};
}
template <class T>
model::Product<T> dx_of(const LinearCrossEntropy<T>& p, int first, int count) {
  return {.a = {logits_in(p), logits_pitch(p)},
          .b = {p.w, p.width},
          .c = {p.dx + int64_t{first} * p.width, p.width},
          .m = count,
          .n = p.width,
          .k = p.vocab};
}
// The first rows' share of dw is written, all others' are added.
template <class T>
model::Product<T, float> dw_of(const LinearCrossEntropy<T>& p, int first, int count) {
  return {.a = {logits_in(p), logits_pitch(p)},
          .b = {p.x + int64_t{first} * p.width, p.width},
          .c = {p.dw, p.width},
          .m = p.vocab,
          .n = p.width,
          .k = count,
          .op_a = model::Op::kT,
          .adds = first > 0};
}

// ---- workspaces: the logits of so many rows at a time, and what the products of these rows want ----

template <class T>
size_t logits_bytes(const LinearCrossEntropy<T>& p, int rows) {
  return days::round_up(sizeof(T) * static_cast<size_t>(rows) * static_cast<size_t>(logits_pitch(p)),
                        size_t{256});
}
template <class T>
size_t workspace_for(const LinearCrossEntropy<T>& p, int rows) {
  size_t of_products = 0;
  for (const int count : {rows, p.rows % rows}) {  // the last rows may be fewer
    if (count == 0) continue;
    of_products =
        std::max({of_products, model::workspace_of(logits_of(p, 0, count)),
                  model::workspace_of(dx_of(p, 0, count)), model::workspace_of(dw_of(p, 0, count))});
  }
  return logits_bytes(p, rows) + of_products;
}
template <class T>
size_t stored_workspace(const LinearCrossEntropy<T>& p) {
  return workspace_for(p, p.rows);
}
// slices: a quarter of the rows at a time, and 2,048 at most.
inline constexpr int kSlices = 4, kMostOfSlice = 2048;
template <class T>
int slice_of(const LinearCrossEntropy<T>& p) {
  return std::min(kMostOfSlice, days::ceil_div(p.rows, kSlices));
}
template <class T>
size_t slices_workspace(const LinearCrossEntropy<T>& p) {
  return workspace_for(p, slice_of(p));
}

// Throws unless the problem is one and its workspace has `needed` bytes.
template <class T>
void require_problem(const LinearCrossEntropy<T>& p, size_t (*needed)(const LinearCrossEntropy<T>&),
                     const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
  days::require(p.vocab > 0, variant, ": vocab must be positive, not", p.vocab);
  days::require(p.vocab <= kMaxCols, variant, ": vocab is at most 2^30, not", p.vocab);
  days::require(p.classes > 0 && p.classes <= p.vocab, variant,
                ": classes must be from 1 to vocab; classes is", p.classes);
  days::require(p.smoothing >= 0 && p.smoothing <= 1, variant, ": smoothing must be from 0 to 1, not",
                p.smoothing);
  const size_t bytes = needed(p);
  days::require(p.workspace.data != nullptr && p.workspace.bytes >= bytes, variant,
                ": needs a workspace of bytes:", bytes);
}

// A product with what the workspace has behind the logits of `rows` rows.
template <class T, class Out>
void multiply(const LinearCrossEntropy<T>& p, int rows, model::Product<T, Out> product, cudaStream_t stream) {
  const size_t logits = logits_bytes(p, rows);
  product.workspace = {static_cast<char*>(p.workspace.data) + logits, p.workspace.bytes - logits};
  model::multiply(product, stream);
}

// The fastest rung of the first ladder that takes the rows.
template <class T>
void loss_and_gradient(const CrossEntropy<T>& p, cudaStream_t stream) {
  if (model::target_here().sm >= 90 && kRowFits.holds(p)) return cross_entropy_resident(p, stream);
  cross_entropy_vectors(p, stream);
}

template <class T>
void linear_stored(const LinearCrossEntropy<T>&, cudaStream_t);
template <class T>
void linear_slices(const LinearCrossEntropy<T>&, cudaStream_t);

// On the CPU, host pointers: loops in double.
template <class T>
void linear_reference(const LinearCrossEntropy<T>&);

}  // namespace day74
