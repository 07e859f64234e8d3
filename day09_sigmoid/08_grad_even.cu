// SPDX-License-Identifier: MIT
// s(x) s(-x) is the same for x and -x: with z = e^-|x| it is z / (1 + z)^2. One power, one quotient, no tail that differs
// from the other.
// Changed since grad_naive: half of the powers and quotients, none of which can overflow, and 16 bytes a thread and array.
// Bound by: memory, also in 16 bits.
#include "common/elementwise.cuh"
#include "common/ptx.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

struct ByOnePower {
  __device__ float operator()(float x, float dy) const {
    const float z = expf(-fabsf(x)), inverse = days::ptx::rcp_approx_ftz(1.0f + z);
    return dy * (z * inverse * inverse);
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) grad_even_kernel(const T* x, const T* dy, T* dx, int64_t n) {
  days::map_vector(x, dy, dx, n, ByOnePower{});
}

}  // namespace

template <class T>
void sigmoid_grad_even(const SigmoidBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "grad_even", kOfVector<T>);
  days::require_needs(p, "grad_even", kAlignedBackward);
  grad_even_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_grad_even, SigmoidBackward, float, days::half, days::bf16);

}  // namespace day09
