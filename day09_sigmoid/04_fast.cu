// SPDX-License-Identifier: MIT
// What nvcc makes of vectors with -use_fast_math, instruction by instruction: e^-x as 2^(-x log2 e), which is rounded
// once on the way, and a quotient by one instruction; denormals are 0.
// Changed since tails: 4 instructions of arithmetic an element. Left of 0 the power is off by |x| half units.
// Bound by: memory, also in 16 bits.
// Teaches: ex2_approx_ftz.
#include "common/elementwise.cuh"
#include "common/ptx.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

struct ByFast {
  __device__ float operator()(float x) const {
    return days::ptx::rcp_approx_ftz(1.0f + days::ptx::ex2_approx_ftz(-kLog2e * x));
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) fast_kernel(const T* x, T* y, int64_t n) {
  days::map_vector(x, y, n, ByFast{});
}

}  // namespace

template <class T>
void sigmoid_fast(const Sigmoid<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "fast", kOfVector<T>);
  days::require_needs(p, "fast", kAligned);
  fast_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_fast, Sigmoid, float, days::half, days::bf16);

}  // namespace day09
