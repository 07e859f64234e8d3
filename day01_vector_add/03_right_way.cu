// SPDX-License-Identifier: MIT
// The right way round: threadIdx.x walks along a row, so a warp's 32 threads touch 32 neighbouring floats,
// 128 bytes in four sectors. Since wrong_way: two lines have changed places, nothing else. Bound by: memory,
// as the vector's one_each.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kColThreads = 32;
constexpr int kRowThreads = 8;

__global__ void right_way_kernel(const float* a, const float* b, float* c, int rows, int cols,
                                 int64_t pitch) {
  const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) c[row * pitch + col] = a[row * pitch + col] + b[row * pitch + col];
}

}  // namespace

void matrix_add_right_way(const MatrixAdd<float>& p, cudaStream_t stream) {
  require_extents(p, "right_way");
  const dim3 block(kColThreads, kRowThreads);
  const dim3 grid(days::ceil_div(p.cols, kColThreads), days::ceil_div(p.rows, kRowThreads));
  days::require_needs(p, "right_way", kRowsAlongY);
  right_way_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.rows, p.cols, p.pitch);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
