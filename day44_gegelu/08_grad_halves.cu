// SPDX-License-Identifier: MIT
// 16 bytes of each: gates, values and dy in, the gradients of gates and of values out.
// Changed since grad_fused: a quarter (an eighth) of the requests, and 48 bytes of a thread on their way.
// Bound by: memory in fp32, 5 elements for an output. In 16 bits it takes longer than the counts explain (the note).
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) grad_halves_kernel(const T* x,   // (rows, 2 * cols)
                                                               const T* dy,  // (rows, cols)
                                                               T* dx,        // (rows, 2 * cols)
                                                               int64_t cols, unsigned parts) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int64_t row = blockIdx.x / parts;
  const int64_t first = kEach * (int64_t{blockIdx.x % parts} * kThreads + threadIdx.x);
  if (first >= cols) return;
  const int64_t at = row * 2 * cols + first;
  days::Vec<T> gate = days::load16(x + at), value = days::load16(x + at + cols);
  const days::Vec<T> out = days::load16(dy + row * cols + first);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const Gradient g =
        geglu_gradient(days::to_float(gate[i]), days::to_float(value[i]), days::to_float(out[i]));
    gate[i] = days::from_float<T>(g.gate);
    value[i] = days::from_float<T>(g.value);
  }
  days::store16(dx + at, gate);
  days::store16(dx + at + cols, value);
}

}  // namespace

template <class T>
void geglu_grad_halves(const GegluBackward<T>& p, cudaStream_t stream) {
  const RowBlocks grid = blocks_of_rows(p, "grad_halves", days::Vec<T>::kSize);
  days::require_needs(p, "grad_halves", kAlignedGradHalves);
  grad_halves_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(geglu_grad_halves, GegluBackward, float, days::half, days::bf16);

}  // namespace day44
