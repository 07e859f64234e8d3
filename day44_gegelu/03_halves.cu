// SPDX-License-Identifier: MIT
// One thread takes 16 bytes of gates and 16 bytes of values: 4 or 8 outputs, which are 16 bytes, too.
// Changed since fused: a quarter (an eighth) of the requests, and 32 bytes of a thread on their way. A row's second half
// has to begin at a multiple of 16 bytes, so cols must be a multiple of 4 (8); what isn't is refused.
// Bound by: memory.
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) halves_kernel(const T* x,  // (rows, 2 * cols)
                                                          T* y,        // (rows, cols)
                                                          int64_t cols, unsigned parts) {
  constexpr int kEach = days::Vec<T>::kSize;  // elements of 16 bytes: 4, or 8
  const int64_t row = blockIdx.x / parts;
  const int64_t first = kEach * (int64_t{blockIdx.x % parts} * kThreads + threadIdx.x);
  if (first >= cols) return;
  const T* gates = x + row * 2 * cols + first;
  const days::Vec<T> gate = days::load16(gates), value = days::load16(gates + cols);
  days::Vec<T> out;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    out[i] = days::from_float<T>(geglu(days::to_float(gate[i]), days::to_float(value[i])));
  days::store16(y + row * cols + first, out);
}

}  // namespace

template <class T>
void geglu_halves(const Geglu<T>& p, cudaStream_t stream) {
  const RowBlocks grid = blocks_of_rows(p, "halves", days::Vec<T>::kSize);
  days::require_needs(p, "halves", kAlignedHalves);
  halves_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, p.y, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(geglu_halves, Geglu, float, days::half, days::bf16);

}  // namespace day44
