// SPDX-License-Identifier: MIT
//
// Kernels of day 12 with a bug each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/moments.cuh"

namespace day12 {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / days::kWarpSize;

// The right steps of a forward kernel, a block a row, of which each kernel below has all but one.
template <class T>
__device__ float mean_of(const T* x, int cols) {
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) sum += days::to_float(x[col]);
  return days::block_reduce(sum, days::Sum{}, 0.0f) / static_cast<float>(cols);
}
template <class T>
__device__ float variance_of(const T* x, float mean, int cols) {
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    const float distance = days::to_float(x[col]) - mean;
    sum += distance * distance;
  }
  return days::block_reduce(sum, days::Sum{}, 0.0f) / static_cast<float>(cols);
}
template <class T>
__device__ void keep(const LayerNorm<T>& p, float mean, float rstd) {
  if (threadIdx.x != 0) return;
  p.mean[blockIdx.x] = isnan(rstd) ? rstd : mean;
  p.rstd[blockIdx.x] = rstd;
}
template <class T>
__device__ void write(const LayerNorm<T>& p, float mean, float rstd) {
  const int64_t row = blockIdx.x;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float xhat = (days::to_float(p.x[row * p.cols + col]) - mean) * rstd;
    p.y[row * p.cols + col] =
        days::from_float<T>(xhat * days::to_float(p.gamma[col]) + days::to_float(p.beta[col]));
  }
  keep(p, mean, rstd);
}

// The mean of the squares minus the square of the mean: with a mean of 10,000 there is nothing left of it.
template <class T>
__global__ void mean_of_squares_kernel(const LayerNorm<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  float sum = 0, squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float value = days::to_float(x[col]);
    sum += value;
    squares += value * value;
  }
  const float n = static_cast<float>(p.cols);
  const float mean = days::block_reduce(sum, days::Sum{}, 0.0f) / n;
  const float variance = days::block_reduce(squares, days::Sum{}, 0.0f) / n - mean * mean;
  write(p, mean, rsqrtf(variance + p.eps));
}

// Adds the row up in its own 16 bits.
template <class T>
__global__ void half_sum_kernel(const LayerNorm<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  T sum = days::from_float<T>(0.0f);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    sum = days::from_float<T>(days::to_float(sum) + days::to_float(x[col]));
  const float mean = days::block_reduce(days::to_float(sum), days::Sum{}, 0.0f) / static_cast<float>(p.cols);
  write(p, mean, rsqrtf(variance_of(x, mean, p.cols) + p.eps));
}

// Rounds what is normalised to the element type before gamma and beta: twice in all.
template <class T>
__global__ void rounds_twice_kernel(const LayerNorm<T> p) {
  const int64_t row = blockIdx.x;
  const T* x = p.x + row * p.cols;
  const float mean = mean_of(x, p.cols);
  const float rstd = rsqrtf(variance_of(x, mean, p.cols) + p.eps);
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const T xhat = days::from_float<T>((days::to_float(x[col]) - mean) * rstd);
    p.y[row * p.cols + col] = days::from_float<T>(days::to_float(xhat) * days::to_float(p.gamma[col]) +
                                                  days::to_float(p.beta[col]));
  }
  keep(p, mean, rstd);
}

// Keeps an infinite mean of a row that holds an infinity, although the row has none.
template <class T>
__global__ void infinite_mean_kernel(const LayerNorm<T> p) {
  const T* x = p.x + int64_t{blockIdx.x} * p.cols;
  const float mean = mean_of(x, p.cols);
  write(p, mean, rsqrtf(variance_of(x, mean, p.cols) + p.eps));
  if (threadIdx.x == 0) p.mean[blockIdx.x] = mean;
}

// A block that takes row after row writes its warps' sums into the same shared memory for each, with one barrier a
// row: a warp that is ahead overwrites what another one has still to read.
__global__ void reuses_at_once_kernel(const LayerNorm<float> p) {
  __shared__ float part[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int64_t row = 0; row < p.rows; ++row) {
    const float* x = p.x + row * p.cols;
    float sum = 0;
    for (int col = threadIdx.x; col < p.cols; col += kThreads) sum += x[col];
    sum = days::warp_reduce(sum, days::Sum{});
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    const float mean =
        days::warp_reduce<kWarps>(part[lane % kWarps], days::Sum{}) / static_cast<float>(p.cols);
    for (int col = threadIdx.x; col < p.cols; col += kThreads) p.y[row * p.cols + col] = x[col] - mean;
  }
}

// ---- Backward: dx with a block a row, then dgamma and dbeta with a thread a column.

struct Averages {
  float g, gx;
};
template <class T>
__device__ Averages averages_of(const LayerNormBackward<T>& p, int cols) {
  const int64_t row = blockIdx.x;
  float g = 0, gx = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    const float value = days::to_float(p.dy[row * p.cols + col]) * days::to_float(p.gamma[col]);
    g += value;
    gx += value * ((days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row]);
  }
  const float n = static_cast<float>(p.cols);
  return {days::block_reduce(g, days::Sum{}, 0.0f) / n, days::block_reduce(gx, days::Sum{}, 0.0f) / n};
}
template <class T>
__device__ void write_dx(const LayerNormBackward<T>& p, Averages average) {
  const int64_t row = blockIdx.x;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float xhat = (days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row];
    const float g = days::to_float(p.dy[row * p.cols + col]) * days::to_float(p.gamma[col]);
    p.dx[row * p.cols + col] = days::from_float<T>(p.rstd[row] * (g - average.g - xhat * average.gx));
  }
}
template <class T>
__global__ void right_dx_kernel(const LayerNormBackward<T> p) {
  write_dx(p, averages_of(p, p.cols));
}
template <class T>
__global__ void right_columns_kernel(const LayerNormBackward<T> p) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t row = 0; row < p.rows; ++row) {
    const float dy = days::to_float(p.dy[row * p.cols + col]);
    dgamma += dy * ((days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row]);
    dbeta += dy;
  }
  p.dgamma[col] = days::from_float<T>(dgamma);
  p.dbeta[col] = days::from_float<T>(dbeta);
}

// Takes mean and rstd for numbers that do not depend on x.
template <class T>
__global__ void constant_statistics_kernel(const LayerNormBackward<T> p) {
  write_dx(p, {0, 0});
}

// Rows in parts of 64, of which the last is forgotten where it is not whole.
template <class T>
__global__ void drops_part_kernel(const LayerNormBackward<T> p) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t row = 0; row < (p.rows > 64 ? p.rows / 64 * 64 : p.rows); ++row) {
    const float dy = days::to_float(p.dy[row * p.cols + col]);
    dgamma += dy * ((days::to_float(p.x[row * p.cols + col]) - p.mean[row]) * p.rstd[row]);
    dbeta += dy;
  }
  p.dgamma[col] = days::from_float<T>(dgamma);
  p.dbeta[col] = days::from_float<T>(dbeta);
}

template <class T>
using Forward = void (*)(LayerNorm<T>);
template <class T>
void launch(Forward<T> kernel, const LayerNorm<T>& p, cudaStream_t stream) {
  kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

template <class T>
using Backward = void (*)(LayerNormBackward<T>);
template <class T>
void launch(Backward<T> dx, Backward<T> columns, const LayerNormBackward<T>& p, cudaStream_t stream) {
  dx<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  columns<<<days::ceil_div(p.cols, kThreads), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void mean_of_squares(const LayerNorm<float>& p, cudaStream_t s) {
  launch(mean_of_squares_kernel<float>, p, s);
}
// On a GPU x * x - mean * mean is one fma and never quite 0, so that a single column is wrong already.
MUST_REJECT(layer_norm, mean_of_squares, "a mean far from 0: y[|1 x 1: rstd[0] is 316.");

void bf16_sum(const LayerNorm<days::bf16>& p, cudaStream_t s) {
  launch(half_sum_kernel<days::bf16>, p, s);
}
MUST_REJECT(layer_norm, bf16_sum, "9 x 129: mean[");

void rounds_twice(const LayerNorm<days::bf16>& p, cudaStream_t s) {
  launch(rounds_twice_kernel<days::bf16>, p, s);
}
MUST_REJECT(layer_norm, rounds_twice, "2 of 51 wrong");

void infinite_mean(const LayerNorm<float>& p, cudaStream_t s) {
  launch(infinite_mean_kernel<float>, p, s);
}
MUST_REJECT(layer_norm, infinite_mean, "special rows: mean[1] is inf, expected nan");

void reuses_at_once(const LayerNorm<float>& p, cudaStream_t s) {
  reuses_at_once_kernel<<<1, kThreads, 0, s>>>(p);
  CUDA_CHECK_LAUNCH();
}

void constant_statistics(const LayerNormBackward<float>& p, cudaStream_t s) {
  launch(constant_statistics_kernel<float>, right_columns_kernel<float>, p, s);
}
MUST_REJECT(layer_norm_backward, constant_statistics, "1 x 1: dx[0,0] is 1.8");

void drops_part(const LayerNormBackward<float>& p, cudaStream_t s) {
  launch(right_dx_kernel<float>, drops_part_kernel<float>, p, s);
}
MUST_REJECT(layer_norm_backward, drops_part, "516 x 8: dgamma[0] is");

}  // namespace day12
