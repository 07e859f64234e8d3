// SPDX-License-Identifier: MIT
//
// Kernels of day 8 with a bug each, which its tests must reject.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day08_batch_norm/channel.cuh"

namespace day08 {
namespace {

// The right steps of a forward kernel, a block a channel, of which each kernel below has all but one.
template <class T>
__device__ Moments moments_of(const BatchNorm<T>& p) {
  Moments mine;
  Walk walk(blockIdx.x, p.channels, p.space, threadIdx.x, kThreads);
  for (int i = threadIdx.x; i < p.batch * p.space; i += kThreads, walk.next())
    mine.add(days::to_float(p.x[walk.at]));
  return merge_block<kThreads>(mine);
}
template <class T>
__device__ void write(const BatchNorm<T>& p, const Affine& affine) {
  Walk walk(blockIdx.x, p.channels, p.space, threadIdx.x, kThreads);
  for (int i = threadIdx.x; i < p.batch * p.space; i += kThreads, walk.next())
    p.y[walk.at] = days::from_float<T>(affine(days::to_float(p.x[walk.at])));
}

// The variance that divides by n where the one that divides by n - 1 is asked for.
__global__ void biased_kernel(const BatchNorm<float> p) {
  const Moments m = moments_of(p);
  write(p, affine_of(p, m, blockIdx.x));
  if (threadIdx.x != 0) return;
  const float before = p.running_var[blockIdx.x];
  keep(p, m, blockIdx.x);
  p.running_var[blockIdx.x] = blend(before, m.m2 / m.n, p.momentum);
}

// PyTorch's momentum is the weight of what is new; TensorFlow's that of what was.
__global__ void other_way_kernel(const BatchNorm<float> p) {
  const Moments m = moments_of(p);
  write(p, affine_of(p, m, blockIdx.x));
  BatchNorm<float> other = p;
  other.momentum = 1 - p.momentum;
  if (threadIdx.x == 0) keep(other, m, blockIdx.x);
}

// The mean of the squares minus the square of the mean.
__global__ void mean_of_squares_kernel(const BatchNorm<float> p) {
  float sum = 0, squares = 0;
  Walk walk(blockIdx.x, p.channels, p.space, threadIdx.x, kThreads);
  for (int i = threadIdx.x; i < p.batch * p.space; i += kThreads, walk.next()) {
    sum += p.x[walk.at];
    squares += p.x[walk.at] * p.x[walk.at];
  }
  Moments m;
  m.n = static_cast<float>(p.batch * p.space);
  m.mean = days::block_reduce(sum, days::Sum{}, 0.0f) / m.n;
  m.m2 = days::block_reduce(squares, days::Sum{}, 0.0f) - m.n * m.mean * m.mean;
  write(p, affine_of(p, m, blockIdx.x));
  if (threadIdx.x == 0) keep(p, m, blockIdx.x);
}

// A merge that does not ask whether there is anything to merge: 0 / 0 where neither part has a number.
__global__ void empty_part_kernel(const BatchNorm<days::half> p) {
  __shared__ Moments part[kThreads];
  Walk walk(blockIdx.x, p.channels, p.space, threadIdx.x, kThreads);
  Moments m;
  for (int i = threadIdx.x; i < p.batch * p.space; i += kThreads, walk.next())
    m.add(days::to_float(p.x[walk.at]));
  part[threadIdx.x] = m;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const Moments other = part[threadIdx.x + half];
    Moments& to = part[threadIdx.x];
    const float all = to.n + other.n, distance = other.mean - to.mean;
    to.mean += distance * (other.n / all);
    to.m2 += other.m2 + distance * distance * (to.n * other.n / all);
    to.n = all;
  }
  __syncthreads();
  m = part[0];
  write(p, affine_of(p, m, blockIdx.x));
  if (threadIdx.x == 0) keep(p, m, blockIdx.x);
}

// The running numbers once for each piece of the channel, and not once for the channel.
__global__ void every_piece_kernel(const BatchNorm<float> p) {
  const Moments m = moments_of(p);
  write(p, affine_of(p, m, blockIdx.x));
  if (threadIdx.x != 0) return;
  for (int piece = 0; piece < 2; ++piece) keep(p, m, blockIdx.x);
}

template <class T>
void launch(void (*kernel)(BatchNorm<T>), const BatchNorm<T>& p, cudaStream_t stream) {
  kernel<<<static_cast<unsigned>(p.channels), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void biased(const BatchNorm<float>& p, cudaStream_t s) {
  launch(biased_kernel, p, s);
}
MUST_REJECT(batch_norm, biased, "running_var[0] is");

void other_way(const BatchNorm<float>& p, cudaStream_t s) {
  launch(other_way_kernel, p, s);
}
MUST_REJECT(batch_norm, other_way, "running_mean[0] is");

void mean_of_squares(const BatchNorm<float>& p, cudaStream_t s) {
  launch(mean_of_squares_kernel, p, s);
}
MUST_REJECT(batch_norm, mean_of_squares, "a mean far from 0|all 1e");

void empty_part(const BatchNorm<days::half>& p, cudaStream_t s) {
  launch(empty_part_kernel, p, s);
}
MUST_REJECT(batch_norm, empty_part, "is nan, expected");

void every_piece(const BatchNorm<float>& p, cudaStream_t s) {
  launch(every_piece_kernel, p, s);
}
MUST_REJECT(batch_norm, every_piece, "running_mean[0] is");

}  // namespace day08
