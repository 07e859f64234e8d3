// SPDX-License-Identifier: MIT
//
// Kernels of day 14 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {

// Not for MUST_REJECT: test.cpp runs it.
void reuses_at_once(const Softmax<float>&, cudaStream_t);

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / days::kWarpSize;

// A block a row.
template <void (*kKernel)(Softmax<float>)>
void launch(const Softmax<float>& p, cudaStream_t stream) {
  kKernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

__device__ int64_t first_of_row(int cols) {
  return int64_t{blockIdx.x} * cols;
}

// The block's row as it should be: its maximum, and its sum of e^(x - max).
__device__ float row_max(const float* x, int cols) {
  float max = -INFINITY;
  for (int col = threadIdx.x; col < cols; col += kThreads) max = fmaxf(max, x[col]);
  return days::block_reduce(max, days::Max{}, -INFINITY);
}
__device__ float row_sum(const float* x, int cols, float max) {
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) sum += expf(x[col] - max);
  return days::block_reduce(sum, days::Sum{}, 0.0f);
}
__device__ void write_row(const float* x, float* y, int cols, float max, float sum) {
  for (int col = threadIdx.x; col < cols; col += kThreads) y[col] = expf(x[col] - max) / sum;
}

// e^x / sum of e^x, as the formula stands: right for small numbers.
__global__ void no_max(Softmax<float> p) {
  const float* const x = p.x + first_of_row(p.cols);
  write_row(x, p.y + first_of_row(p.cols), p.cols, 0, row_sum(x, p.cols, 0));
}
MUST_REJECT(softmax, launch<no_max>, "up to 1e4 either way: y[0,0] is nan, expected 1");

// 2^(x log2 e - max log2 e) in one instruction: right until the product overflows.
__device__ float fused_power(float x, float max) {
  constexpr float kLog2e = 1.44269504f;
  return exp2f(fmaf(x, kLog2e, -max * kLog2e));
}
__global__ void fused_scale(Softmax<float> p) {
  const float* const x = p.x + first_of_row(p.cols);
  const float max = row_max(x, p.cols);
  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) sum += fused_power(x[col], max);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  float* const y = p.y + first_of_row(p.cols);
  for (int col = threadIdx.x; col < p.cols; col += kThreads) y[col] = fused_power(x[col], max) / sum;
}
MUST_REJECT(softmax, launch<fused_scale>, "special rows: y[5,0] is nan, expected 1");

// Leaves NaNs out of the sum, so that only they stay NaN.
__global__ void skips_nan(Softmax<float> p) {
  const float* const x = p.x + first_of_row(p.cols);
  float max = -INFINITY, sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) max = fmaxf(max, x[col]);
  max = days::block_reduce(max, days::Max{}, -INFINITY);
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    if (!isnan(expf(x[col] - max))) sum += expf(x[col] - max);
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  write_row(x, p.y + first_of_row(p.cols), p.cols, max, sum);
}
MUST_REJECT(softmax, launch<skips_nan>, "17 x 3, special rows: y[4,0] is");

// ---- Online: maximum and sum in one loop ----

struct Part {
  float max, sum;
};
// The warps' parts, each of its own maximum, in shared memory.
__device__ Part warp_part(Part mine) {
  const float max = days::warp_reduce(mine.max, days::Max{});
  return {max, days::warp_reduce(mine.sum * expf(mine.max - max), days::Sum{})};
}
__device__ void store_part(Part (&parts)[kWarps], Part mine) {
  const Part of_warp = warp_part(mine);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = of_warp;
  __syncthreads();
}
__device__ Part merged(const Part (&parts)[kWarps]) {
  Part all = parts[0];
  for (int i = 1; i < kWarps; ++i) all.max = fmaxf(all.max, parts[i].max);
  all.sum = 0;
  for (int i = 0; i < kWarps; ++i) all.sum += parts[i].sum * expf(parts[i].max - all.max);
  return all;
}

// Starts at its first element: where that and the second are -inf, e^(-inf - -inf) is NaN.
__global__ void starts_at_first(Softmax<float> p) {
  __shared__ Part parts[kWarps];
  const float* const x = p.x + first_of_row(p.cols);
  Part mine = {-3.4e38f, 0};
  if (static_cast<int>(threadIdx.x) < p.cols) mine = {x[threadIdx.x], 1};
  for (int col = threadIdx.x + kThreads; col < p.cols; col += kThreads) {
    const float larger = fmaxf(mine.max, x[col]);
    mine = {larger, mine.sum * expf(mine.max - larger) + expf(x[col] - larger)};
  }
  store_part(parts, mine);
  const Part row = merged(parts);
  write_row(x, p.y + first_of_row(p.cols), p.cols, row.max, row.sum);
}
MUST_REJECT(softmax, launch<starts_at_first>, "special rows: y[1,0] is nan, expected 0");

// The maxima's shared memory takes the sums, and nobody waits until all have read the maxima.
__global__ void reuses_at_once_kernel(Softmax<float> p) {
  __shared__ float part[kWarps];
  const float* const x = p.x + first_of_row(p.cols);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float max = -INFINITY, sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) max = fmaxf(max, x[col]);
  max = days::warp_reduce(max, days::Max{});
  if (lane == 0) part[warp] = max;
  __syncthreads();
  max = days::warp_reduce(part[lane % kWarps], days::Max{});
  for (int col = threadIdx.x; col < p.cols; col += kThreads) sum += expf(x[col] - max);
  sum = days::warp_reduce(sum, days::Sum{});
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = days::warp_reduce<kWarps>(part[lane % kWarps], days::Sum{});
  write_row(x, p.y + first_of_row(p.cols), p.cols, max, sum);
}

// ---- 16 bits ----

template <class T, void (*kKernel)(Softmax<T>)>
void launch16(const Softmax<T>& p, cudaStream_t stream) {
  kKernel<<<p.rows, 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// A thread a row. The sum is kept in T, where a small term soon adds nothing to a large sum.
template <class T>
__global__ void sums_in_t(Softmax<T> p) {
  const T* const x = p.x + first_of_row(p.cols);
  float max = -INFINITY;
  for (int col = 0; col < p.cols; ++col) max = days::Max{}(max, days::to_float(x[col]));
  T sum = days::from_float<T>(0);
  for (int col = 0; col < p.cols; ++col)
    sum = days::from_float<T>(days::to_float(sum) + expf(days::to_float(x[col]) - max));
  T* const y = p.y + first_of_row(p.cols);
  for (int col = 0; col < p.cols; ++col)
    y[col] = days::from_float<T>(expf(days::to_float(x[col]) - max) / days::to_float(sum));
}
constexpr auto sums_in_bf16 = launch16<days::bf16, sums_in_t<days::bf16>>;
MUST_REJECT(softmax, sums_in_bf16, "9 x 32: y[");

// A thread a row of fp16, whose sum is kept in fp16.
__global__ void backward_half_sum_kernel(SoftmaxBackward<days::half> p) {
  const int64_t first = first_of_row(p.cols), end = first + p.cols;
  days::half sum = days::from_float<days::half>(0);
  for (int64_t i = first; i < end; ++i)
    sum =
        days::from_float<days::half>(days::to_float(sum) + days::to_float(p.y[i]) * days::to_float(p.dy[i]));
  for (int64_t i = first; i < end; ++i)
    p.dx[i] = days::from_float<days::half>(days::to_float(p.y[i]) *
                                           (days::to_float(p.dy[i]) - days::to_float(sum)));
}
void backward_half_sum(const SoftmaxBackward<days::half>& p, cudaStream_t stream) {
  backward_half_sum_kernel<<<p.rows, 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(softmax_backward, backward_half_sum, "9 x 1: dx[5,0] is");

}  // namespace

void reuses_at_once(const Softmax<float>& p, cudaStream_t stream) {
  launch<reuses_at_once_kernel>(p, stream);
}

}  // namespace day14
