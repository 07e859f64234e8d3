// SPDX-License-Identifier: MIT
// Backward alone, one thread an element: the slope as the product rule has it, with the library's erff and expf.
// Bound by: the issue of instructions in 16 bits, the number of bytes under way in fp32.
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

__device__ inline float slope_by_erf(float x) {
  const float p = fmaf(0.5f, erff(kHalfRoot * x), 0.5f);
  return fmaf(x, kDensity * expf(-0.5f * x * x), p);
}

template <class T>
__global__ void __launch_bounds__(kThreads) single_kernel(const T* x, const T* dy, T* dx,  // (n) each
                                                          int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) dx[i] = days::from_float<T>(days::to_float(dy[i]) * slope_by_erf(days::to_float(x[i])));
}

}  // namespace

template <class T>
void gelu_grad_single(const GeluBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "grad_single", 1);
  single_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_grad_single, GeluBackward, float, days::half, days::bf16);

}  // namespace day15
