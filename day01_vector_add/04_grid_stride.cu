// SPDX-License-Identifier: MIT
// The grid is as large as the GPU can hold at once, whatever n is; each thread walks over the vector in steps
// of the whole grid. Since one_each: no limit on n, and a block's start-up is paid once, not once for every
// 256 elements. Bound by: memory, as before. Each thread now waits for one element before it asks for the
// next.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

__global__ void grid_stride_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;  // threads in the grid
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}

}  // namespace

void vector_add_grid_stride(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "grid_stride: n must be positive, not", p.n);
  const int64_t needed = days::ceil_div(p.n, kThreads);
  const int64_t blocks = std::min<int64_t>(needed, days::resident_threads() / kThreads);
  grid_stride_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
