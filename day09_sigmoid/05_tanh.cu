// SPDX-License-Identifier: MIT
// s(x) = 1 / 2 + tanh(x / 2) / 2, and tanh is one instruction from compute capability 7.5 on. It is right to 2^-11 of
// itself, so that s is right to 2^-12 of 1: near 1 that is 12 digits, and far left of 0, where s is small, none.
// One MUFU an element.
// Bound by: memory, also in 16 bits.
// Teaches: tanh_approx.
#include "common/elementwise.cuh"
#include "common/ptx/tanh.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

struct ByTanh {
  __device__ float operator()(float x) const { return fmaf(0.5f, days::ptx::tanh_approx(0.5f * x), 0.5f); }
};

template <class T>
__global__ void __launch_bounds__(kThreads) tanh_kernel(const T* x, T* y, int64_t n) {
  days::map_vector(x, y, n, ByTanh{});
}

}  // namespace

template <class T>
void sigmoid_tanh(const Sigmoid<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "tanh", kOfVector<T>);
  days::require_needs(p, "tanh", kAligned);
  tanh_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_tanh, Sigmoid, float, days::half, days::bf16);

}  // namespace day09
