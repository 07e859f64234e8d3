// SPDX-License-Identifier: MIT
//
// A thread has the same columns in row after row: 16 bytes of each, and their gamma and beta in registers.
// Changed since naive: no division, gamma and beta are read once for some eight rows, and 16 bytes a load.
// Bound by: memory in fp32. In 16 bits tanhf takes nearly all instructions that 4 bytes leave time for.

#include "day36_dyt/forward.cuh"

namespace day36 {
namespace {

template <bool kWide, class T>
__global__ void __launch_bounds__(kStripThreads) columns_kernel(const Dyt<T> p, int lanes) {
  forward_strip<kWide>(p, lanes, [](float v) { return tanhf(v); });
}

}  // namespace

template <class T>
void dyt_columns(const Dyt<T>& p, cudaStream_t stream) {
  require_problem(p, "columns");
  const bool wide = whole_vectors<T>(p.cols, p.x, p.gamma, p.beta, p.y);
  const int width = wide ? kWidth<T, true> : 1, lanes = lanes_of(p.cols, width);
  const dim3 grid(days::ceil_div(p.cols, lanes * width), forward_blocks_y(p.rows, lanes));
  const auto kernel = wide ? columns_kernel<true, T> : columns_kernel<false, T>;
  kernel<<<grid, kStripThreads, 0, stream>>>(p, lanes);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dyt_columns, Dyt, float, days::half, days::bf16);

}  // namespace day36
