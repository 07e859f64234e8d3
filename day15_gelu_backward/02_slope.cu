// SPDX-License-Identifier: MIT
// All that backward wants to know of x is one number, the slope. Forward keeps that in place of P(x).
// Changed since inner: backward does not read x, 12 bytes for 16, and computes nothing but a product. Nobody has to
// keep x either, which is a quarter of the step's memory where no other layer wants it.
// Bound by: memory, 24 bytes an fp32 element. In 16 bits forward's erf and power may not fit into its 6 bytes.
#include "day15_gelu_backward/gelu_backward.h"
#include "day15_gelu_backward/vectors.cuh"

namespace day15 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) slope_forward_kernel(const T* x, T* y, T* kept,  // (n) each
                                                                 int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    days::Vec<T, kCount> v = load<kCount>(x + first), slopes;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]), p = fmaf(0.5f, erff(kHalfRoot * value), 0.5f);
      slopes[i] = days::from_float<T>(fmaf(value, kDensity * expf(-0.5f * value * value), p));
      v[i] = days::from_float<T>(value * p);
    }
    store<kCount>(y + first, v);
    store<kCount>(kept + first, slopes);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    slope_backward_kernel(const T* kept, const T* dy, T* dx,  // (n) each
                          int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    const days::Vec<T, kCount> slopes = load<kCount>(kept + first);
    days::Vec<T, kCount> d = load<kCount>(dy + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      d[i] = days::from_float<T>(days::to_float(d[i]) * days::to_float(slopes[i]));
    store<kCount>(dx + first, d);
  });
}

}  // namespace

template <class T>
void gelu_step_slope(const GeluStep<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "slope", gelu_step_slope_workspace(p));
  T* kept = static_cast<T*>(p.workspace.data);
  slope_forward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, kept, p.n);
  CUDA_CHECK_LAUNCH();
  slope_backward_kernel<<<blocks, kThreads, 0, stream>>>(kept, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_step_slope, GeluStep, float, days::half, days::bf16);

}  // namespace day15
