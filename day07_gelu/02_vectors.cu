// SPDX-License-Identifier: MIT
// One thread takes 16 bytes: four floats, or eight numbers of 16 bits. The same arithmetic.
// Changed since erf: a quarter (an eighth) of the threads and of the requests, and 30 instructions an element for 53,
// because addresses and constants are shared.
// Bound by: memory in fp32. In bf16 30 instructions are nearly all that fit into memory's time, 31.
#include "common/vector.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

__device__ inline float vectors_by_erf(float x) {
  const float half = 0.5f * x;
  return fmaf(half, erff(kHalfRoot * x), half);
}

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* x,  // (n)
                                                           T* y,        // (n)
                                                           int64_t n) {
  constexpr int kEach = days::Vec<T>::kSize;  // elements of 16 bytes: 4, or 8
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kEach <= n) {
    days::Vec<T> v = days::load16(x + first);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = days::from_float<T>(vectors_by_erf(days::to_float(v[i])));
    days::store16(y + first, v);
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = days::from_float<T>(vectors_by_erf(days::to_float(x[i])));
  }
}

}  // namespace

template <class T>
void gelu_vectors(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "vectors");
  vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_vectors, Gelu, float, days::half, days::bf16);

}  // namespace day07
