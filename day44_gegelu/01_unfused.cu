// SPDX-License-Identifier: MIT
// GeGLU as one writes it with a library's functions: one kernel makes gelu of every gate, a second multiplies.
// The first writes its results to global memory, where the second reads them: 5 elements moved for an output, where 3
// would do, and in 16 bits a rounding more.
// Bound by: memory and its threads, two for an output, which need about as long; in 16 bits the threads alone.
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) gelu_kernel(const T* x,  // (rows, 2 * cols)
                                                        T* gelus,    // (rows, cols)
                                                        int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts, col = int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
  if (col < cols)
    gelus[row * cols + col] = days::from_float<T>(gelu(days::to_float(x[row * 2 * cols + col])));
}

template <class T>
__global__ void __launch_bounds__(kThreads) multiply_kernel(const T* x,      // (rows, 2 * cols)
                                                            const T* gelus,  // (rows, cols)
                                                            T* y,            // (rows, cols)
                                                            int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts, col = int64_t{blockIdx.x % parts} * kThreads + threadIdx.x;
  if (col >= cols) return;
  const float value = days::to_float(x[row * 2 * cols + cols + col]);
  y[row * cols + col] = days::from_float<T>(days::to_float(gelus[row * cols + col]) * value);
}

}  // namespace

template <class T>
void geglu_unfused(const Geglu<T>& p, cudaStream_t stream) {
  const RowBlocks grid = blocks_of_rows(p, "unfused", 1);
  days::require(p.workspace.bytes >= unfused_workspace(p), "unfused: needs a workspace of",
                unfused_workspace(p), " bytes, not", p.workspace.bytes);
  T* gelus = static_cast<T*>(p.workspace.data);
  gelu_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, gelus, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
  multiply_kernel<<<grid.blocks, kThreads, 0, stream>>>(p.x, gelus, p.y, p.cols, grid.parts);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(geglu_unfused, Geglu, float, days::half, days::bf16);

}  // namespace day44
