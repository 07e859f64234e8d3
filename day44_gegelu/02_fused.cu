// SPDX-License-Identifier: MIT
// One thread, one output: it loads a gate and, cols elements further on, the value. Neighbouring threads load neighbours
// from both halves, so every sector is full.
// Changed since unfused: one launch, and gelu of the gate stays in a register: 3 elements moved for an output, not 5.
// Bound by: its threads, one for an output: each waits once and executes 60 instructions. In fp32 memory is as near.
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) fused_kernel(const T* x,  // (rows, 2 * cols)
                                                         T* y,        // (rows, cols)
                                                         int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts, col = int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
  if (col >= cols) return;
  const T* gates = x + row * 2 * cols;
  const T* values = gates + cols;
  y[row * cols + col] = days::from_float<T>(geglu(days::to_float(gates[col]), days::to_float(values[col])));
}

}  // namespace

template <class T>
void geglu_fused(const Geglu<T>& p, cudaStream_t stream) {
  const RowBlocks grid = blocks_of_rows(p, "fused", 1);
  fused_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, p.y, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(geglu_fused, Geglu, float, days::half, days::bf16);

}  // namespace day44
