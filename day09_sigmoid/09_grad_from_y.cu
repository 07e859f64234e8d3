// SPDX-License-Identifier: MIT
// Backward from what forward has written, as PyTorch does it: dx = dy * y * (1 - y). No power and no quotient at all, and
// the difference loses nothing. What it cannot know is what forward rounded away: right of x = 8.3 an fp16 y is 1, and dx is 0.
// Bound by: memory.
#include "common/elementwise.cuh"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

struct ByOutput {
  __device__ float operator()(float y, float dy) const { return dy * (y * (1.0f - y)); }
};

template <class T>
__global__ void __launch_bounds__(kThreads) grad_from_y_kernel(const T* y, const T* dy, T* dx, int64_t n) {
  days::map_vector(y, dy, dx, n, ByOutput{});
}

}  // namespace

template <class T>
void sigmoid_grad_from_y(const SigmoidBackwardY<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "grad_from_y", kOfVector<T>);
  days::require_needs(p, "grad_from_y", kAlignedBackwardY);
  grad_from_y_kernel<<<blocks, kThreads, 0, stream>>>(p.y, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_grad_from_y, SigmoidBackwardY, float, days::half, days::bf16);

}  // namespace day09
