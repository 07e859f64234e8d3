// SPDX-License-Identifier: MIT
//
// Mean and variance in one loop (Welford 1962), and parts of a row merged by a tree (Chan, Golub and LeVeque
// 1979). Changed since shared: two reads of the row instead of three, half of the
// barriers, and still no difference of two large numbers. Bound by: a load at a time, as a branch follows each
// division.

#include "common/check.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/moments.cuh"

namespace day12 {
namespace {

constexpr int kThreads = 256;

// Of some numbers: how many, their mean, the sum of their squared distances from it. The rungs after this one take it from
// common/moments.cuh.
struct Moments {
  float n = 0, mean = 0, m2 = 0;

  // One number more: only distances from the mean so far are squared.
  __device__ void add(float x) {
    n += 1;
    const float distance = x - mean;
    mean += distance / n;
    m2 += distance * (x - mean);
  }
  // Another part: the parts' means are n numbers at one place each.
  __device__ void add(const Moments& other) {
    if (other.n == 0) return;
    const float all = n + other.n, distance = other.mean - mean;
    mean += distance * (other.n / all);
    m2 += other.m2 + distance * distance * (n * other.n / all);
    n = all;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) welford_kernel(const LayerNorm<T> p) {
  __shared__ Moments tree[kThreads];
  const int64_t row = blockIdx.x;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;

  Moments mine;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) mine.add(days::to_float(x[col]));
  tree[threadIdx.x] = mine;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x].add(tree[threadIdx.x + half]);
  }
  __syncthreads();

  const Statistics s = statistics(tree[0], p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    y[col] = days::from_float<T>(
        normalised(days::to_float(x[col]), s, days::to_float(p.gamma[col]), days::to_float(p.beta[col])));
  if (threadIdx.x == 0) {
    p.mean[row] = s.mean;
    p.rstd[row] = s.rstd;
  }
}

}  // namespace

template <class T>
void layer_norm_welford(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "welford");
  welford_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(layer_norm_welford, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
