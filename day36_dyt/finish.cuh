// SPDX-License-Identifier: MIT
// Sums in fp32, as atomic additions have left them, become the gradients in T: what grad_atomic and grad_tiles have in
// common. Atomic additions of 16-bit numbers would round 65,536 times.
#pragma once

#include "day36_dyt/dyt.h"

namespace day36 {

inline constexpr int kFinishThreads = 128;

template <class T>
__global__ void __launch_bounds__(kFinishThreads) finish_kernel(const DytBackward<T> p, const float* sums) {
  const int col = blockIdx.x * kFinishThreads + threadIdx.x;
  if (col == 0) *p.dalpha = sums[int64_t{2} * p.cols];
  if (col >= p.cols) return;
  p.dgamma[col] = days::from_float<T>(sums[col]);
  p.dbeta[col] = days::from_float<T>(sums[p.cols + col]);
}

template <class T>
void finish(const DytBackward<T>& p, const float* sums, cudaStream_t stream) {
  finish_kernel<<<days::ceil_div(p.cols, kFinishThreads), kFinishThreads, 0, stream>>>(p, sums);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day36
