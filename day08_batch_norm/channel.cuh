// SPDX-License-Identifier: MIT
// What all rungs know of a channel: where its numbers lie where space is the
// last extent, what its moments are used for, and what is kept.
#pragma once

#include <cuda_runtime.h>

#include "common/moments.cuh"
#include "day08_batch_norm/batch_norm.h"

namespace day08 {

using days::Moments;

// Down a channel of x (batch, channels, space): its numbers are a plane of
// `space` side by side, then the next image's plane. `at` is the place in x of
// number `first`, and of those `step` numbers further each time. A unit may
// also be a vector, if space counts vectors.
class Walk {
 public:
  int64_t at;

  __device__ Walk(int channel, int channels, int space, int first, int step)
      : at((int64_t{first / space} * channels + channel) * space + first % space),
        column_(first % space),
        space_(space),
        columns_(step % space),
        stride_(int64_t{step / space} * channels * space + columns_),
        skip_(int64_t{channels - 1} * space) {}

  __device__ void next() {
    at += stride_;
    column_ += columns_;
    if (column_ >= space_) {  // over the plane's end: past the planes of the other channels
      column_ -= space_;
      at += skip_;
    }
  }
  __device__ void back() {
    at -= stride_;
    column_ -= columns_;
    if (column_ < 0) {
      column_ += space_;
      at -= skip_;
    }
  }

 private:
  int column_, space_, columns_;
  int64_t stride_, skip_;
};

// Piece `piece` of a channel with n numbers, cut in kPieces: [begin, end),
// which may be empty.
struct Piece {
  int begin, end;

  __device__ Piece(int n, int piece)
      : begin(static_cast<int>(int64_t{n} * piece / kPieces)),
        end(static_cast<int>(int64_t{n} * (piece + 1) / kPieces)) {}
};

// x becomes (x - mean) * scale + shift.
struct Affine {
  float mean, scale, shift;

  __device__ float operator()(float x) const { return (x - mean) * scale + shift; }
};
// An infinity or a NaN in the channel has made m2 NaN, but not always the mean.
__device__ inline float mean_of(const Moments& m) {
  return m.m2 == m.m2 ? m.mean : m.m2;
}
template <class T>
__device__ inline Affine affine_of(const BatchNorm<T>& p, const Moments& m, int channel) {
  return {mean_of(m), rsqrtf(m.m2 / m.n + p.eps) * p.gamma[channel], p.beta[channel]};
}

// What has the weight 0 is not looked at: 0 * NaN would be NaN.
__device__ inline float blend(float old, float now, float momentum) {
  if (momentum == 0) return old;
  return momentum == 1 ? now : (1 - momentum) * old + momentum * now;
}
// One thread does this, once for each channel and launch.
template <class T>
__device__ inline void keep(const BatchNorm<T>& p, const Moments& m, int channel) {
  p.mean[channel] = mean_of(m);
  p.rstd[channel] = rsqrtf(m.m2 / m.n + p.eps);
  p.running_mean[channel] = blend(p.running_mean[channel], mean_of(m), p.momentum);
  p.running_var[channel] = blend(p.running_var[channel], m.m2 / (m.n - 1), p.momentum);
}

// The moments of all threads of a block as one, in each of them. All must call
// it; two barriers.
template <int kBlockThreads>
__device__ inline Moments merge_block(Moments mine) {
  constexpr int kWarps = kBlockThreads / days::kWarpSize;
  __shared__ Moments of_warp[kWarps];
  const int lane = threadIdx.x % days::kWarpSize;
  mine = days::merge_pairs(mine);
  if (lane == 0) of_warp[threadIdx.x / days::kWarpSize] = mine;
  __syncthreads();
  mine = days::merge_pairs(lane < kWarps ? of_warp[lane] : Moments{});
  __syncthreads();  // the next call may overwrite of_warp
  return mine;
}

// The moments of `count` parts as one, in every lane of the warp that calls it.
__device__ inline Moments merge_parts(const Moments* parts, int count) {
  Moments mine;
  for (int i = threadIdx.x % days::kWarpSize; i < count; i += days::kWarpSize) mine.add(parts[i]);
  return days::merge_pairs(mine);
}

}  // namespace day08
