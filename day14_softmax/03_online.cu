// SPDX-License-Identifier: MIT
//
// Maximum and sum in one loop (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018): a
// new maximum rescales the sum so far. Changed since shared: two reads of the input instead of three, and one
// barrier instead of four. Bound by: the second read, and 4-byte loads that put few bytes in flight.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/partial.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) online_kernel(const T* x,  // (rows, cols)
                                                          T* y,        // (rows, cols)
                                                          int cols) {
  __shared__ Partial partials[kThreads / days::kWarpSize];
  x += int64_t{blockIdx.x} * cols;
  y += int64_t{blockIdx.x} * cols;
  Partial mine;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    const float value = days::to_float(x[col]);
    if (value > mine.max) {
      mine.sum *= expf(mine.max - value);
      mine.max = value;
    }
    mine.sum += expf(value - mine.max);
  }
  const Partial row = block_merge(warp_merge(mine), partials);
  for (int col = threadIdx.x; col < cols; col += kThreads)
    y[col] = days::from_float<T>(expf(days::to_float(x[col]) - row.max) / row.sum);
}

}  // namespace

template <class T>
void softmax_online(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "online");
  online_kernel<<<p.rows, kThreads, 0, stream>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_online, Softmax, float, days::half, days::bf16);

}  // namespace day14
