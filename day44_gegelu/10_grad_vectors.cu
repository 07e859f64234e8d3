// SPDX-License-Identifier: MIT
// 16 bytes of pairs and 8 of dy in, 16 bytes of gradients out, in the layout of the pairs.
// Changed since grad_strided: whole pairs, so every sector is asked for by one request alone.
// Bound by: memory, 5 elements for an output.
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) grad_vectors_kernel(const T* x,   // (n, 2)
                                                                const T* dy,  // (n)
                                                                T* dx,        // (n, 2)
                                                                int64_t n, float limit) {
  constexpr int kPairs = days::Vec<T>::kSize / 2;
  const int64_t first = kPairs * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kPairs <= n) {
    days::Vec<T> v = days::load16(x + 2 * first);
    const days::HalfVec<T> out = days::load8(dy + first);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const Gradient g = gegelu_gradient(days::to_float(v[2 * i]), days::to_float(v[2 * i + 1]),
                                         days::to_float(out[i]), limit);
      v[2 * i] = days::from_float<T>(g.gate);
      v[2 * i + 1] = days::from_float<T>(g.value);
    }
    days::store16(dx + 2 * first, v);
  } else {
    for (int64_t i = first; i < n; ++i) {
      const Gradient g = gegelu_gradient(days::to_float(x[2 * i]), days::to_float(x[2 * i + 1]),
                                         days::to_float(dy[i]), limit);
      dx[2 * i] = days::from_float<T>(g.gate);
      dx[2 * i + 1] = days::from_float<T>(g.value);
    }
  }
}

}  // namespace

template <class T>
void gegelu_grad_vectors(const GegeluBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "grad_vectors", days::Vec<T>::kSize / 2);
  days::require_needs(p, "grad_vectors", kAlignedGrad);
  grad_vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gegelu_grad_vectors, GegeluBackward, float, days::half, days::bf16);

}  // namespace day44
