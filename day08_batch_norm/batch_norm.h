// SPDX-License-Identifier: MIT
// Day 08: the problems, and the launchers that solve them. Elements are fp32,
// fp16 or bf16; all arithmetic is in fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day08 {

// For each channel, over all of the batch and of space: y = (x - mean) * rstd *
// gamma + beta, where rstd is 1 / sqrt(variance + eps) with the variance that
// divides by n = batch * space. Beside them
//   running = (1 - momentum) * running + momentum * new
// of the mean, and of the variance that divides by n - 1. Where a weight is 0,
// what it weighs is not looked at, not even a NaN. A channel that holds a NaN
// or an infinity becomes NaN in all outputs, and no other one does. y may be x
// itself.
template <class T>
struct BatchNorm {
  const T* x;           // (batch, channels, space), or (batch, space, channels)
  const float* gamma;   // (channels)
  const float* beta;    // (channels)
  T* y;                 // as x
  float* running_mean;  // (channels), in place
  float* running_var;   // (channels), in place
  float* mean;          // (channels)
  float* rstd;          // (channels)
  int batch, channels, space;
  float eps, momentum;
  days::Workspace workspace;
};

// From the loss's gradient dy with respect to y, with xhat = (x - mean) * rstd
// and n = batch * space:
//   dbeta = sum of dy     dgamma = sum of dy * xhat     dx = gamma * rstd * (dy
//   - dbeta / n - xhat * dgamma / n)
// dx may be x or dy itself.
template <class T>
struct BatchNormBackward {
  const T* x;          // (batch, channels, space)
  const T* dy;         // as x
  const float* gamma;  // (channels)
  const float* mean;   // (channels), of this batch
  const float* rstd;   // (channels), of this batch
  T* dx;               // as x
  float* dgamma;       // (channels)
  float* dbeta;        // (channels)
  int batch, channels, space;
  days::Workspace workspace;
};

inline constexpr int64_t kMostNumbers = 1 << 30;  // of a channel: places in it are ints
inline constexpr int kMostChannels = 1 << 20;

// Throws std::invalid_argument unless a launcher of this day may take it.
template <class P>
void require_extents(const P& p, const char* variant, size_t workspace) {
  days::require(p.batch > 0, variant, ": batch must be positive, not", p.batch);
  days::require(p.channels > 0, variant, ": channels must be positive, not", p.channels);
  days::require(p.space > 0, variant, ": space must be positive, not", p.space);
  days::require(p.channels <= kMostChannels, variant, ": channels must be at most 2^20, not", p.channels);
  const int64_t n = int64_t{p.batch} * p.space;
  days::require(n <= kMostNumbers, variant, ": batch * space must be at most 2^30, not", n);
  days::require(p.workspace.bytes >= workspace, variant, ": needs a workspace of bytes:", workspace);
}
template <class T>
void require_problem(const BatchNorm<T>& p, const char* variant, size_t workspace) {
  require_extents(p, variant, workspace);
  const int64_t n = int64_t{p.batch} * p.space;
  days::require(n > 1, variant,
                ": a channel of one number has no variance: batch * space must "
                "be at least 2, not",
                n);
  days::require(p.eps > 0, variant, ": eps must be positive, not", p.eps);
  days::require(p.momentum >= 0 && p.momentum <= 1, variant, ": momentum must be from 0 to 1, not",
                p.momentum);
  days::require(days::same_or_apart(p.x, static_cast<const T*>(p.y), n * p.channels), variant,
                ": x and y overlap; they may be the same memory or two apart");
}
template <class T>
void require_problem(const BatchNormBackward<T>& p, const char* variant, size_t workspace) {
  require_extents(p, variant, workspace);
  const int64_t all = int64_t{p.batch} * p.space * p.channels;
  days::require(days::same_or_apart(p.x, static_cast<const T*>(p.dx), all) &&
                    days::same_or_apart(p.dy, static_cast<const T*>(p.dx), all),
                variant, ": an input and dx overlap; they may be the same memory or two apart");
}

inline constexpr int kThreads = 256;  // of a block of channel, pieces, last_columns and grad_pieces
inline constexpr int kPieces = 16;    // of a channel in pieces and grad_pieces; some of a small one are empty

// Blocks of together, last_together and grad_together. Two share a
// multiprocessor, and half of its shared memory is each one's.
inline constexpr int kShareThreads = 512, kBlocksOfMultiprocessor = 2;
inline constexpr int kMostBlocks = 1024;  // more than any GPU of this course holds

// Channels of a tile in the layout whose last extent is channels, at most; and
// pieces of a tile in last_columns.
inline constexpr int kMostOfTile = 64, kLeastOfTile = 32, kMostRowPieces = 64;

// Bytes of a workspace: a Moments (two sums) for each place.
inline constexpr size_t kBytesOfMoments = 3 * sizeof(float), kBytesOfSums = 2 * sizeof(float);
template <class T>
size_t pieces_workspace(const BatchNorm<T>& p) {
  return kBytesOfMoments * kPieces * static_cast<size_t>(p.channels);
}
template <class T>
size_t together_workspace(const BatchNorm<T>& p) {
  return kBytesOfMoments * (kMostBlocks + static_cast<size_t>(p.channels));
}
template <class T>
size_t last_columns_workspace(const BatchNorm<T>& p) {
  return kBytesOfMoments * kMostRowPieces * static_cast<size_t>(p.channels);
}
template <class T>
size_t last_together_workspace(const BatchNorm<T>& p) {
  return kBytesOfMoments * kMostOfTile *
         (kMostBlocks + days::ceil_div(static_cast<size_t>(p.channels), size_t{kLeastOfTile}));
}
template <class T>
size_t grad_pieces_workspace(const BatchNormBackward<T>& p) {
  return kBytesOfSums * kPieces * static_cast<size_t>(p.channels);
}
template <class T>
size_t grad_together_workspace(const BatchNormBackward<T>& p) {
  return kBytesOfSums * (kMostBlocks + static_cast<size_t>(p.channels));
}

// x is (batch, channels, space).
template <class T>
void batch_norm_channel(const BatchNorm<T>&, cudaStream_t);
template <class T>
void batch_norm_pieces(const BatchNorm<T>&, cudaStream_t);
template <class T>
void batch_norm_together(const BatchNorm<T>&, cudaStream_t);
template <class T>
void batch_norm_grad_pieces(const BatchNormBackward<T>&, cudaStream_t);
template <class T>
void batch_norm_grad_together(const BatchNormBackward<T>&, cudaStream_t);
template <class T>
void exercise(const BatchNorm<T>&, cudaStream_t);  // yours

// x is (batch, space, channels).
template <class T>
void batch_norm_last_columns(const BatchNorm<T>&, cudaStream_t);
template <class T>
void batch_norm_last_together(const BatchNorm<T>&, cudaStream_t);

// Of the rungs that keep their share of x on the chip: how much of it a block
// may keep there, in bytes. All that there is, by default; the tests give less,
// so that a share does not fit.
inline constexpr size_t kAllThereIs = ~size_t{0};
template <class T>
void batch_norm_together_keeping(const BatchNorm<T>&, size_t bytes, cudaStream_t);
template <class T>
void batch_norm_last_together_keeping(const BatchNorm<T>&, size_t bytes, cudaStream_t);
template <class T>
void batch_norm_grad_together_keeping(const BatchNormBackward<T>&, size_t bytes, cudaStream_t);

// On the CPU, host pointers: obvious loops in double, and the same on all
// cores.
template <class T>
void batch_norm_reference(const BatchNorm<T>&);
template <class T>
void batch_norm_parallel(const BatchNorm<T>&);
template <class T>
void batch_norm_last_reference(const BatchNorm<T>&);
template <class T>
void batch_norm_last_parallel(const BatchNorm<T>&);
template <class T>
void batch_norm_backward_reference(const BatchNormBackward<T>&);
template <class T>
void batch_norm_backward_parallel(const BatchNormBackward<T>&);

// What the tolerances need to know, from host pointers once the reference has
// run: the error, in fp32 epsilons, that arithmetic in fp32 may make in any
// element of an output; of rstd and running_var relative to it.
template <class T>
double error_of_y(const BatchNorm<T>&);
template <class T>
double error_of_mean(const BatchNorm<T>&);
template <class T>
double error_of_rstd(const BatchNorm<T>&);
template <class T>
double error_of_dx(const BatchNormBackward<T>&);
template <class T>
double error_of_dgamma(const BatchNormBackward<T>&);
template <class T>
double error_of_dbeta(const BatchNormBackward<T>&);

}  // namespace day08
