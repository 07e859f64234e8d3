// SPDX-License-Identifier: MIT
// The usual approximation of GELU: x / 2 * (1 + tanh(u)), where u is a polynomial of x, with the tanhf of the library.
// It is up to 5e-4 away from GELU itself, which is why it is a ladder of its own; here it is computed to all digits.
// Bound by: memory in fp32. tanhf works out both of its ways, one of them for small arguments, and chooses: 26 instructions
// an element in bf16, where memory gives time for 31.
#include "common/elementwise.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

struct ByTanh {
  __device__ float operator()(float x) const {
    const float half = 0.5f * x, u = x * fmaf(kTanhX3, x * x, kTanhX);
    return fmaf(half, tanhf(u), half);  // half * (1 + tanh), rounded once
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) tanh_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  days::map_vector(x, y, n, ByTanh{});
}

}  // namespace

template <class T>
void gelu_tanh(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "tanh");
  tanh_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_tanh, Gelu, float, days::half, days::bf16);

}  // namespace day07
