// SPDX-License-Identifier: MIT
// GeGELU's backward pass, one pair a thread, element by element. Of the five accesses four are strided: gate, value, and
// both gradients. Loads may find the other half of a sector in L1; stores write every sector of dx in two halves.
// Bound by: memory in fp32, though 9 sectors are asked for where 5 are needed; in 16 bits its threads.
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) grad_strided_kernel(const T* x,   // (n, 2)
                                                                const T* dy,  // (n)
                                                                T* dx,        // (n, 2)
                                                                int64_t n, float limit) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float gate = days::to_float(x[2 * i]);
  const float value = days::to_float(x[2 * i + 1]);
  const Gradient g = gegelu_gradient(gate, value, days::to_float(dy[i]), limit);
  dx[2 * i] = days::from_float<T>(g.gate);
  dx[2 * i + 1] = days::from_float<T>(g.value);
}

}  // namespace

template <class T>
void gegelu_grad_strided(const GegeluBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "grad_strided", 1);
  grad_strided_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gegelu_grad_strided, GegeluBackward, float, days::half, days::bf16);

}  // namespace day44
