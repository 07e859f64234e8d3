// SPDX-License-Identifier: MIT
//
// Kernels of day 37 with a bug each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"

namespace day37 {
namespace {

constexpr int kThreads = 128;

template <class T>
__device__ float scaled_squares(const T* x, int cols, float power) {
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    const float scaled = days::to_float(x[col]) * power;
    sum += scaled * scaled;
  }
  return days::block_reduce(sum, days::Sum{}, 0.0f);
}
template <class T>
__device__ float largest_of(const T* x, int cols) {
  float largest = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads)
    largest = days::Max{}(largest, fabsf(days::to_float(x[col])));
  return days::block_reduce(largest, days::Max{}, 0.0f);
}
template <class T, class Quotient>
__device__ void write(const L2Normalize<T>& p, float norm, Quotient quotient) {
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    p.y[start + col] = days::from_float<T>(quotient(days::to_float(p.x[start + col])));
  if (threadIdx.x == 0) p.norm[blockIdx.x] = norm;
}

template <void (*kKernel)(L2Normalize<float>)>
void launch(const L2Normalize<float>& p, cudaStream_t stream) {
  kKernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// The formula as it stands, in bf16, whose exponents are fp32's: right for ordinary rows.
__global__ void plain_kernel(L2Normalize<days::bf16> p) {
  const float norm = sqrtf(scaled_squares(p.x + int64_t{blockIdx.x} * p.cols, p.cols, 1));
  write(p, norm, [&](float x) { return x / (norm <= p.eps ? p.eps : norm); });
}
void plain(const L2Normalize<days::bf16>& p, cudaStream_t stream) {
  plain_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(l2_norm, plain, "special rows: y[1,0] is 0, expected 1");

// fmaxf drops a NaN: the row's finite part is normalised as if nothing were.
__global__ void drops_nan(L2Normalize<float> p) {
  const float* x = p.x + int64_t{blockIdx.x} * p.cols;
  float largest = 0, sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) largest = fmaxf(largest, fabsf(x[col]));
  largest = days::block_reduce(largest, days::Max{}, 0.0f);
  const float power = inverse_power(largest);
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    sum += x[col] == x[col] ? x[col] * power * (x[col] * power) : 0;
  const Divisor divisor(power, days::block_reduce(sum, days::Sum{}, 0.0f), p.eps);
  write(p, divisor.norm, [&](float value) { return divisor.quotient(value); });
}
MUST_REJECT(l2_norm, launch<drops_nan>, "special rows: norm[6] is 0, expected nan");

// 2^-127 is a denormal: a GPU that flushes those, as -use_fast_math asks, makes 0 of it.
__global__ void flushed_power(L2Normalize<float> p) {
  const float* x = p.x + int64_t{blockIdx.x} * p.cols;
  const float largest = largest_of(x, p.cols);
  const float power = largest >= 0x1p127f ? 0 : inverse_power(largest);
  const Divisor divisor(power, scaled_squares(x, p.cols, power), p.eps);
  write(p, divisor.norm, [&](float value) { return divisor.quotient(value); });
}
MUST_REJECT(l2_norm, launch<flushed_power>, "special rows: y[2,0] is inf, expected 1");

// eps is compared with the scaled norm, which is at least 1 wherever there is a number. Where there is none, 0 is
// multiplied by a large power and by 1 / eps, which may be infinite.
__global__ void scaled_eps(L2Normalize<float> p) {
  const float* x = p.x + int64_t{blockIdx.x} * p.cols;
  const float power = inverse_power(largest_of(x, p.cols));
  const float root = sqrtf(scaled_squares(x, p.cols, power));
  const float factor = 1 / fmaxf(root, p.eps);
  write(p, root / power, [&](float value) { return value * power * factor; });
}
MUST_REJECT(l2_norm, launch<scaled_eps>, "special rows, eps 1e-45: y[0,0] is nan, expected 0");

// eps is added to the norm.
__global__ void adds_eps(L2Normalize<float> p) {
  const float* x = p.x + int64_t{blockIdx.x} * p.cols;
  const float power = inverse_power(largest_of(x, p.cols));
  const float norm = sqrtf(scaled_squares(x, p.cols, power)) / power;
  write(p, norm, [&](float value) { return value / (norm + p.eps); });
}
MUST_REJECT(l2_norm, launch<adds_eps>, "near eps: y[0,0] is -0.333333343, expected -0.5");

// A clamped row has a constant divisor. This one takes the norm's slope away all the same.
__global__ void slope_of_clamp(L2NormalizeBackward<float> p) {
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  float along = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) along += p.y[start + col] * p.dy[start + col];
  along = days::block_reduce(along, days::Sum{}, 0.0f);
  const float norm = p.norm[blockIdx.x], divisor = norm <= p.eps ? p.eps : norm;
  for (int col = threadIdx.x; col < p.cols; col += kThreads)
    p.dx[start + col] = (p.dy[start + col] - p.y[start + col] * along) / divisor;
}
void clamp_has_slope(const L2NormalizeBackward<float>& p, cudaStream_t stream) {
  slope_of_clamp<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(l2_norm_backward, clamp_has_slope, "norms around eps, inf and nan: dx[0,0] is");

}  // namespace
}  // namespace day37
