// SPDX-License-Identifier: MIT
//
// Exercise: batch norm in two reads of x, by 16 blocks for each channel. The pieces and the second launch are there.
// Gates: every element right for every shape and the hostile channels; no race; at most 2.2 loads of each input (channel makes 3); at least 256
// blocks a launch; at most 10% of the bytes that sectors move are bytes that no thread asked for.
//   ./days check 8      tells how far you are        ./days hint 8      when you are stuck
#include "common/check.h"
#include "day08_batch_norm/channel.cuh"

namespace day08 {
namespace {

// Leaves the moments of piece blockIdx.x % kPieces of channel blockIdx.x / kPieces.
template <class T>
__global__ void __launch_bounds__(kThreads) exercise_moments(const BatchNorm<T> p,
                                                             Moments* parts) {  // (channels, kPieces)
  const int channel = blockIdx.x / kPieces;
  const Piece piece(p.batch * p.space, blockIdx.x % kPieces);
  Moments mine;
  Walk walk(channel, p.channels, p.space, piece.begin + threadIdx.x, kThreads);
  for (int i = piece.begin + threadIdx.x; i < piece.end; i += kThreads, walk.next())
    mine.add(days::to_float(p.x[walk.at]));
  mine = merge_block<kThreads>(mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

// Writes y of the same piece, which needs the moments of the whole channel.
template <class T>
__global__ void __launch_bounds__(kThreads) exercise_normalise(const BatchNorm<T> p, const Moments* parts) {
  const int channel = blockIdx.x / kPieces;
  const Piece piece(p.batch * p.space, blockIdx.x % kPieces);
  __shared__ Affine affine;  // what x becomes, for the whole block
  // 1. One thread (or a warp) merges the channel's kPieces parts for its block: m.add(part) merges one more into m. Then
  //    affine = affine_of(p, m, channel), and keep(p, m, channel) writes mean and rstd and changes the running ones: how often may that happen?
  // 2. All threads wait for it, and write their numbers: affine(x). A Walk as above gives the places, days::from_float<T>(...) the number to write.
  // your code
  static_cast<void>(channel);
  static_cast<void>(piece);
  static_cast<void>(parts);
  static_cast<void>(affine);
}

}  // namespace

template <class T>
void exercise(const BatchNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise", pieces_workspace(p));
  Moments* parts = static_cast<Moments*>(p.workspace.data);
  const unsigned blocks = static_cast<unsigned>(p.channels) * kPieces;
  exercise_moments<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
  exercise_normalise<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, BatchNorm, float, days::half, days::bf16);

}  // namespace day08
