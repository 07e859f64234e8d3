// SPDX-License-Identifier: MIT
// No power of e above 1: with z = e^-|x| the result is 1 / (1 + z) right of 0 and z / (1 + z) left of it.
// Changed since vectors: nothing overflows, denormals come out right, and the divisor is between 1 and 2. There one
// instruction, MUFU.RCP, divides to 2^-23, and the slow path that IEEE needs for huge divisors has nothing to do.
// Bound by: memory, also in 16 bits.
// Teaches: rcp_approx_ftz.
#include "common/elementwise.cuh"
#include "common/ptx.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

struct BothTails {
  __device__ float operator()(float x) const {
    const float z = expf(-fabsf(x)), right = days::ptx::rcp_approx_ftz(1.0f + z);  // s(|x|), from 1 / 2 to 1
    return x < 0 ? z * right : right;  // NaN is not below 0, and z is NaN
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) tails_kernel(const T* x, T* y, int64_t n) {
  days::map_vector(x, y, n, BothTails{});
}

}  // namespace

template <class T>
void sigmoid_tails(const Sigmoid<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "tails", kOfVector<T>);
  days::require_needs(p, "tails", kAligned);
  tails_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_tails, Sigmoid, float, days::half, days::bf16);

}  // namespace day09
