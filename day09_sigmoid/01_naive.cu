// SPDX-License-Identifier: MIT
// One thread, one element: the formula as it is written, 1 / (1 + e^-x).
// Left of x = -88.7 e^-x is beyond the largest float and becomes infinite, and 1 / inf is 0: the right result to all
// digits but those of denormals.
// Bound by: memory in fp32, if enough bytes are under way: 4 bytes a thread are few. The issue of instructions in 16 bits.
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

__device__ inline float by_formula(float x) {
  return 1.0f / (1.0f + expf(-x));
}

template <class T>
__global__ void __launch_bounds__(kThreads) naive_kernel(const T* x,  // (n)
                                                         T* y,        // (n)
                                                         int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(by_formula(days::to_float(x[i])));
}

}  // namespace

template <class T>
void sigmoid_naive(const Sigmoid<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "naive", 1);
  naive_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_naive, Sigmoid, float, days::half, days::bf16);

}  // namespace day09
