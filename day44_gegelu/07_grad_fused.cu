// SPDX-License-Identifier: MIT
// GeGLU's backward pass, one output's gradients a thread: dy, gate and value in, two gradients out, in the halves' layout.
// gelu of the gate is computed again, because a load of it would cost more than the ten instructions.
// Bound by: memory in fp32; in 16 bits its threads, one for an output.
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) grad_fused_kernel(const T* x,   // (rows, 2 * cols)
                                                              const T* dy,  // (rows, cols)
                                                              T* dx,        // (rows, 2 * cols)
                                                              int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts, col = int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
  if (col >= cols) return;
  const int64_t gate = row * 2 * cols + col, value = gate + cols;
  const Gradient g =
      geglu_gradient(days::to_float(x[gate]), days::to_float(x[value]), days::to_float(dy[row * cols + col]));
  dx[gate] = days::from_float<T>(g.gate);
  dx[value] = days::from_float<T>(g.value);
}

}  // namespace

template <class T>
void geglu_grad_fused(const GegluBackward<T>& p, cudaStream_t stream) {
  const RowBlocks grid = blocks_of_rows(p, "grad_fused", 1);
  grad_fused_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(geglu_grad_fused, GegluBackward, float, days::half, days::bf16);

}  // namespace day44
