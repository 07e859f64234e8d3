// SPDX-License-Identifier: MIT
// tanh in one instruction, from compute capability 7.5 on, with three to four decimal digits.
// One MUFU and five others for each element, in fp32 whatever the type is, and what loads and converts.
// Bound by: memory, also in 16 bits.
// Teaches: tanh_approx.
#include "common/elementwise.cuh"
#include "common/ptx/tanh.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

struct ByFast {
  __device__ float operator()(float x) const {
    const float half = 0.5f * x, u = x * fmaf(kTanhX3, x * x, kTanhX);
    return fmaf(half, days::ptx::tanh_approx(u), half);
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) fast_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  days::map_vector(x, y, n, ByFast{});
}

}  // namespace

template <class T>
void gelu_fast(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "fast");
  fast_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_fast, Gelu, float, days::half, days::bf16);

}  // namespace day07
