// SPDX-License-Identifier: MIT
//
// Kernels of day 14 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / days::kWarpSize;

enum class Bug {
  kZeros,       // writes zeros
  kNoMax,       // e^x / sum of e^x, as the formula stands: right for small numbers
  kShortTail,   // whole warps' worth of columns only
  kUnscaled,    // does not divide by the sum
  kHalfSum,     // adds up in 16 bits
  kFusedScale,  // 2^(x log2 e - max log2 e) in one instruction: right until the product overflows
  kZeroRow,     // makes a row of nothing but -inf zeros, which hides that it has no answer
  kSkipsNaN,    // leaves NaNs out of the sum, so that only they stay NaN
  kColumns      // the softmax of columns: right for square matrices that are symmetric
};

template <Bug kBug>
__global__ void wrong_kernel(const float* x, float* y, int rows, int cols) {
  const int64_t row = blockIdx.x;
  const int lines = kBug == Bug::kColumns ? rows : cols;
  const int end = kBug == Bug::kShortTail && cols > 32 ? cols / 32 * 32 : lines;
  const int64_t first = kBug == Bug::kColumns ? row % cols : row * cols,
                step = kBug == Bug::kColumns ? cols : 1;
  float max = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < end; i += kThreads) max = fmaxf(max, x[first + i * step]);
  max = days::block_reduce(max, days::Max{}, -INFINITY);
  if (kBug == Bug::kNoMax) max = 0;
  const auto power = [max](float value) {
    constexpr float kLog2e = 1.44269504f;
    return kBug == Bug::kFusedScale ? exp2f(fmaf(value, kLog2e, -max * kLog2e)) : expf(value - max);
  };
  for (int i = threadIdx.x; i < end; i += kThreads) {
    const float e = power(x[first + i * step]);
    if (kBug == Bug::kSkipsNaN && isnan(e)) continue;
    sum += e;
    if (kBug == Bug::kHalfSum) sum = __half2float(__float2half(sum));
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  for (int i = threadIdx.x; i < end; i += kThreads) {
    float value = power(x[first + i * step]) / sum;
    if (kBug == Bug::kUnscaled) value *= sum;
    if (kBug == Bug::kZeros || (kBug == Bug::kZeroRow && max == -INFINITY)) value = 0;
    y[first + i * step] = value;
  }
}

template <Bug kBug>
void launch(const Softmax<float>& p, cudaStream_t stream) {
  wrong_kernel<kBug><<<p.rows, kThreads, 0, stream>>>(p.x, p.y, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

enum class OnlineBug {
  kStaleSum,       // a new maximum does not rescale the sum
  kStartsAtFirst,  // starts at its first element: where that and the second are -inf, e^(-inf - -inf) is NaN
  kAddsWarps       // adds the sums of warps that have different maxima
};

// A lane's part online, the warps' parts by way of shared memory.
template <OnlineBug kBug>
__global__ void wrong_online_kernel(const float* x, float* y, int cols) {
  __shared__ float maxima[kWarps], sums[kWarps];
  x += int64_t{blockIdx.x} * cols;
  y += int64_t{blockIdx.x} * cols;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float max = -3.4e38f, sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    if (kBug == OnlineBug::kStartsAtFirst && col < kThreads) {
      max = x[col];
      sum = 1;
      continue;
    }
    const float larger = fmaxf(max, x[col]);
    sum = (kBug == OnlineBug::kStaleSum ? sum : sum * expf(max - larger)) + expf(x[col] - larger);
    max = larger;
  }
  const float of_warp = days::warp_reduce(max, days::Max{});
  sum = days::warp_reduce(sum * expf(max - of_warp), days::Sum{});
  if (lane == 0) maxima[warp] = of_warp, sums[warp] = sum;
  __syncthreads();
  float most = maxima[0], total = 0;
  for (int i = 1; i < kWarps; ++i) most = fmaxf(most, maxima[i]);
  for (int i = 0; i < kWarps; ++i)
    total += kBug == OnlineBug::kAddsWarps ? sums[i] : sums[i] * expf(maxima[i] - most);
  for (int col = threadIdx.x; col < cols; col += kThreads) y[col] = expf(x[col] - most) / total;
}

template <OnlineBug kBug>
void launch_online(const Softmax<float>& p, cudaStream_t stream) {
  wrong_online_kernel<kBug><<<p.rows, kThreads, 0, stream>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}

// The maxima's shared memory takes the sums, and nobody waits until all have read the maxima.
__global__ void reuses_at_once_kernel(const float* x, float* y, int cols) {
  __shared__ float part[kWarps];
  x += int64_t{blockIdx.x} * cols;
  y += int64_t{blockIdx.x} * cols;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float max = -INFINITY, sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) max = fmaxf(max, x[col]);
  max = days::warp_reduce(max, days::Max{});
  if (lane == 0) part[warp] = max;
  __syncthreads();
  max = days::warp_reduce(part[lane % kWarps], days::Max{});
  for (int col = threadIdx.x; col < cols; col += kThreads) sum += expf(x[col] - max);
  sum = days::warp_reduce(sum, days::Sum{});
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = days::warp_reduce<kWarps>(part[lane % kWarps], days::Sum{});
  for (int col = threadIdx.x; col < cols; col += kThreads) y[col] = expf(x[col] - max) / sum;
}

enum class BackwardBug {
  kNoSum,      // y * dy
  kSumOfDy,    // subtracts the sum of dy, without y
  kShortTail,  // whole warps' worth of columns only, in the sum
  kOneTerm,    // y * dy - sum, with y for the first term alone
};

template <BackwardBug kBug>
__global__ void wrong_backward_kernel(const float* y, const float* dy, float* dx, int cols) {
  y += int64_t{blockIdx.x} * cols;
  dy += int64_t{blockIdx.x} * cols;
  dx += int64_t{blockIdx.x} * cols;
  const int end = kBug == BackwardBug::kShortTail && cols > 32 ? cols / 32 * 32 : cols;
  float sum = 0;
  for (int col = threadIdx.x; col < end; col += kThreads)
    sum += kBug == BackwardBug::kSumOfDy ? dy[col] : y[col] * dy[col];
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (kBug == BackwardBug::kNoSum) sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads)
    dx[col] = kBug == BackwardBug::kOneTerm ? y[col] * dy[col] - sum : y[col] * (dy[col] - sum);
}

template <BackwardBug kBug>
void launch_backward(const SoftmaxBackward<float>& p, cudaStream_t stream) {
  wrong_backward_kernel<kBug><<<p.rows, kThreads, 0, stream>>>(p.y, p.dy, p.dx, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void zeros(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void no_max(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kNoMax>(p, s);
}
void short_tail(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kShortTail>(p, s);
}
void unscaled(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kUnscaled>(p, s);
}
void half_sum(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kHalfSum>(p, s);
}
void fused_scale(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kFusedScale>(p, s);
}
void zero_row(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kZeroRow>(p, s);
}
void skips_nan(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kSkipsNaN>(p, s);
}
void columns(const Softmax<float>& p, cudaStream_t s) {
  launch<Bug::kColumns>(p, s);
}
void stale_sum(const Softmax<float>& p, cudaStream_t s) {
  launch_online<OnlineBug::kStaleSum>(p, s);
}
void starts_at_first(const Softmax<float>& p, cudaStream_t s) {
  launch_online<OnlineBug::kStartsAtFirst>(p, s);
}
void adds_warps(const Softmax<float>& p, cudaStream_t s) {
  launch_online<OnlineBug::kAddsWarps>(p, s);
}
void reuses_at_once(const Softmax<float>& p, cudaStream_t s) {
  reuses_at_once_kernel<<<p.rows, kThreads, 0, s>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}
void backward_no_sum(const SoftmaxBackward<float>& p, cudaStream_t s) {
  launch_backward<BackwardBug::kNoSum>(p, s);
}
void backward_sum_of_dy(const SoftmaxBackward<float>& p, cudaStream_t s) {
  launch_backward<BackwardBug::kSumOfDy>(p, s);
}
void backward_short_tail(const SoftmaxBackward<float>& p, cudaStream_t s) {
  launch_backward<BackwardBug::kShortTail>(p, s);
}
void backward_one_term(const SoftmaxBackward<float>& p, cudaStream_t s) {
  launch_backward<BackwardBug::kOneTerm>(p, s);
}

}  // namespace day14
