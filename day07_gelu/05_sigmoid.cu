// SPDX-License-Identifier: MIT
// (1 + tanh(u)) / 2 is 1 / (1 + e^(-2u)): one power of two and one quotient, no branch, and nothing cancels.
// Changed since tanh: half of the instructions; of them two are of the special function unit, ex2 and rcp, as before.
// Bound by: memory, also in 16 bits. Two MUFU an element are half of what the unit does while 4 bytes move.
// Teaches: ex2_approx_ftz, __fdividef.
#include "common/elementwise.cuh"
#include "common/ptx.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

struct BySigmoid {
  __device__ float operator()(float x) const {
    constexpr float kLog2e = 1.44269504f;
    // e^(-2u) = 2^(-2u * log2 e). Where it is infinite, x / inf is the -0 that is wanted; -inf / inf is NaN, as it
    // has to be.
    const float power = x * fmaf(-2 * kLog2e * kTanhX3, x * x, -2 * kLog2e * kTanhX);
    return __fdividef(x, 1 + days::ptx::ex2_approx_ftz(power));
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) sigmoid_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  days::map_vector(x, y, n, BySigmoid{});
}

}  // namespace

template <class T>
void gelu_sigmoid(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "sigmoid");
  sigmoid_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_sigmoid, Gelu, float, days::half, days::bf16);

}  // namespace day07
