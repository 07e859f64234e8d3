// SPDX-License-Identifier: MIT
// Forward has computed P(x), so it keeps it, and backward is spared the erf: dx = dy * (P + x * density(x)).
// Bound by: memory. An fp32 element moves 12 bytes forward (x, y, P) and 16 backward (x, P, dy, dx).
#include "day15_gelu_backward/gelu_backward.h"
#include "day15_gelu_backward/vectors.cuh"

namespace day15 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) inner_forward_kernel(const T* x, T* y, T* kept,  // (n) each
                                                                 int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    days::Vec<T, kCount> v = load<kCount>(x + first), below;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]), p = fmaf(0.5f, erff(kHalfRoot * value), 0.5f);
      below[i] = days::from_float<T>(p);
      v[i] = days::from_float<T>(value * p);
    }
    store<kCount>(y + first, v);
    store<kCount>(kept + first, below);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    inner_backward_kernel(const T* x, const T* kept, const T* dy, T* dx,  // (n) each
                          int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    const days::Vec<T, kCount> v = load<kCount>(x + first), below = load<kCount>(kept + first);
    days::Vec<T, kCount> d = load<kCount>(dy + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]), density = kDensity * expf(-0.5f * value * value);
      d[i] = days::from_float<T>(days::to_float(d[i]) * fmaf(value, density, days::to_float(below[i])));
    }
    store<kCount>(dx + first, d);
  });
}

}  // namespace

template <class T>
void gelu_step_inner(const GeluStep<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "inner", gelu_step_inner_workspace(p));
  T* kept = static_cast<T*>(p.workspace.data);
  inner_forward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, kept, p.n);
  CUDA_CHECK_LAUNCH();
  inner_backward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, kept, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_step_inner, GeluStep, float, days::half, days::bf16);

}  // namespace day15
