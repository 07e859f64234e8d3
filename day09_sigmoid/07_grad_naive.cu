// SPDX-License-Identifier: MIT
// Backward, one thread, one element: dx = dy * s(x) * s(-x), each of the two as naive has it. s(-x) is 1 - s(x), but for
// its digits: the difference has none left once s(x) has been rounded to 1.
// Bound by: the wait for 4 bytes (2) a load. In 16 bits by instructions, too: two powers and two quotients of IEEE.
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

__device__ inline float sigmoid_of(float x) {
  return 1.0f / (1.0f + expf(-x));
}

template <class T>
__global__ void __launch_bounds__(kThreads) grad_naive_kernel(const T* x,   // (n)
                                                              const T* dy,  // (n)
                                                              T* dx,        // (n)
                                                              int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float v = days::to_float(x[i]);
  dx[i] = days::from_float<T>(days::to_float(dy[i]) * (sigmoid_of(v) * sigmoid_of(-v)));
}

}  // namespace

template <class T>
void sigmoid_grad_naive(const SigmoidBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "grad_naive", 1);
  grad_naive_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sigmoid_grad_naive, SigmoidBackward, float, days::half, days::bf16);

}  // namespace day09
