// SPDX-License-Identifier: MIT
// Forward keeps nothing: x is there anyway, and backward makes P(x) and the density from it once more.
// Changed since slope: forward writes 4 bytes of an fp32 element less; backward reads x where it read the slope.
// Bound by: memory in fp32, 20 bytes an element. In 16 bits both passes compute nearly as long as they move bytes.
#include "day15_gelu_backward/gelu_backward.h"
#include "day15_gelu_backward/vectors.cuh"

namespace day15 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    recompute_forward_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    days::Vec<T, kCount> v = load<kCount>(x + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]);
      v[i] = days::from_float<T>(value * fmaf(0.5f, erff(kHalfRoot * value), 0.5f));
    }
    store<kCount>(y + first, v);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    recompute_backward_kernel(const T* x, const T* dy, T* dx,  // (n) each
                              int64_t n) {
  each_vector<T>(n, [&]<int kCount>(int64_t first, Count<kCount>) {
    const days::Vec<T, kCount> v = load<kCount>(x + first);
    days::Vec<T, kCount> d = load<kCount>(dy + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = days::to_float(v[i]), p = fmaf(0.5f, erff(kHalfRoot * value), 0.5f);
      const float slope = fmaf(value, kDensity * expf(-0.5f * value * value), p);
      d[i] = days::from_float<T>(days::to_float(d[i]) * slope);
    }
    store<kCount>(dx + first, d);
  });
}

}  // namespace

template <class T>
void gelu_step_recompute(const GeluStep<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "recompute", 0);
  recompute_forward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
  recompute_backward_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_step_recompute, GeluStep, float, days::half, days::bf16);

}  // namespace day15
