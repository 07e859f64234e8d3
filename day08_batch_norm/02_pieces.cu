// SPDX-License-Identifier: MIT
// A channel in 16 pieces. A block finds its piece's moments (day 12: how many, mean, squared distances) and leaves them in the workspace; a
// second launch has as many blocks, and each merges the 16 parts of its channel before it writes its piece of y.
// Changed since channel: 16 times as many blocks, two reads for three, a launch more.
// Bound by: memory, three trips: x in, x in again, y out.
#include "common/check.h"
#include "day08_batch_norm/channel.cuh"

namespace day08 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) moments_kernel(const BatchNorm<T> p,
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

template <class T>
__global__ void __launch_bounds__(kThreads) normalise_kernel(const BatchNorm<T> p, const Moments* parts) {
  const int channel = blockIdx.x / kPieces;
  const Piece piece(p.batch * p.space, blockIdx.x % kPieces);
  __shared__ Affine affine;
  if (threadIdx.x < days::kWarpSize) {  // a warp merges the parts for its block
    const Moments all = merge_parts(parts + int64_t{channel} * kPieces, kPieces);
    if (threadIdx.x == 0) {
      affine = affine_of(p, all, channel);
      if (blockIdx.x % kPieces == 0) keep(p, all, channel);
    }
  }
  __syncthreads();
  Walk walk(channel, p.channels, p.space, piece.begin + threadIdx.x, kThreads);
  for (int i = piece.begin + threadIdx.x; i < piece.end; i += kThreads, walk.next())
    p.y[walk.at] = days::from_float<T>(affine(days::to_float(p.x[walk.at])));
}

}  // namespace

template <class T>
void batch_norm_pieces(const BatchNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "pieces", pieces_workspace(p));
  Moments* parts = static_cast<Moments*>(p.workspace.data);
  const unsigned blocks = static_cast<unsigned>(p.channels) * kPieces;
  moments_kernel<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
  normalise_kernel<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(batch_norm_pieces, BatchNorm, float, days::half, days::bf16);

}  // namespace day08
