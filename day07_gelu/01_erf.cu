// SPDX-License-Identifier: MIT
// One thread, one element: GELU as it is defined, with the library's erff.
// Bound by: the issue of instructions in 16 bits, where an element takes 53 of them and memory gives time for 31. In
// fp32 51 fit beside the 63 of memory's time, if enough bytes are under way: 4 bytes a thread are few.
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

__device__ inline float by_erf(float x) {
  const float half = 0.5f * x;
  return fmaf(half, erff(kHalfRoot * x), half);  // half * (1 + erf), rounded once
}

template <class T>
__global__ void __launch_bounds__(kThreads) erf_kernel(const T* x,  // (n)
                                                       T* y,        // (n)
                                                       int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = days::from_float<T>(by_erf(days::to_float(x[i])));
}

}  // namespace

template <class T>
void gelu_erf(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "erf", 1);
  erf_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_erf, Gelu, float, days::half, days::bf16);

}  // namespace day07
