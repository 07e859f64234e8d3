// SPDX-License-Identifier: MIT
// Backward as pieces does forward: two sums of each channel, of dy and of dy * xhat, in 16 pieces; then a launch that adds up the 16 and writes dx.
// Changed since pieces: sums instead of moments, and two inputs.
// Bound by: memory, five trips: x and dy in, both in again, dx out.
#include "common/check.h"
#include "common/reduce.cuh"
#include "day08_batch_norm/channel.cuh"
#include "day08_batch_norm/gradient.cuh"

namespace day08 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) sums_kernel(const BatchNormBackward<T> p,
                                                        Sums* parts) {  // (channels, kPieces)
  const int channel = blockIdx.x / kPieces;
  const Piece piece(p.batch * p.space, blockIdx.x % kPieces);
  const float mean = p.mean[channel], rstd = p.rstd[channel];
  Sums mine;
  Walk walk(channel, p.channels, p.space, piece.begin + threadIdx.x, kThreads);
  for (int i = piece.begin + threadIdx.x; i < piece.end; i += kThreads, walk.next()) {
    const float dy = days::to_float(p.dy[walk.at]);
    mine.beta += dy;
    mine.gamma += dy * ((days::to_float(p.x[walk.at]) - mean) * rstd);
  }
  mine.beta = days::block_reduce(mine.beta, days::Sum{}, 0.0f);
  mine.gamma = days::block_reduce(mine.gamma, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}

template <class T>
__global__ void __launch_bounds__(kThreads) dx_kernel(const BatchNormBackward<T> p, const Sums* parts) {
  const int channel = blockIdx.x / kPieces;
  const Piece piece(p.batch * p.space, blockIdx.x % kPieces);
  const Sums all = add_parts(parts + int64_t{channel} * kPieces, kPieces);
  const Gradient gradient = gradient_of(p, all, channel);
  Walk walk(channel, p.channels, p.space, piece.begin + threadIdx.x, kThreads);
  for (int i = piece.begin + threadIdx.x; i < piece.end; i += kThreads, walk.next())
    p.dx[walk.at] =
        days::from_float<T>(gradient(days::to_float(p.x[walk.at]), days::to_float(p.dy[walk.at])));
  if (blockIdx.x % kPieces == 0 && threadIdx.x == 0) {
    p.dgamma[channel] = all.gamma;
    p.dbeta[channel] = all.beta;
  }
}

}  // namespace

template <class T>
void batch_norm_grad_pieces(const BatchNormBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_pieces", grad_pieces_workspace(p));
  Sums* parts = static_cast<Sums*>(p.workspace.data);
  const unsigned blocks = static_cast<unsigned>(p.channels) * kPieces;
  sums_kernel<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
  dx_kernel<<<blocks, kThreads, 0, stream>>>(p, parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(batch_norm_grad_pieces, BatchNormBackward, float, days::half, days::bf16);

}  // namespace day08
