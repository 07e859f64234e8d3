// SPDX-License-Identifier: MIT
// A matrix on a 2-D grid, the wrong way round: threadIdx.x, in which a warp's threads differ, walks down the
// rows. So 32 threads touch 32 rows, addresses a whole row apart, and each access touches 32 sectors in 32
// lines to use 4 bytes of each. The block's 8 columns use each sector up, so no byte need move twice. Bound
// by: L1's look-ups, a line a tick, which explain three quarters of the time; the rest is not known.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kRowThreads = 32;
constexpr int kColThreads = 8;

__global__ void wrong_way_kernel(const float* a, const float* b, float* c, int rows, int cols,
                                 int64_t pitch) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t col = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) c[row * pitch + col] = a[row * pitch + col] + b[row * pitch + col];
}

}  // namespace

void matrix_add_wrong_way(const MatrixAdd<float>& p, cudaStream_t stream) {
  require_extents(p, "wrong_way");
  const dim3 block(kRowThreads, kColThreads);
  const dim3 grid(days::ceil_div(p.rows, kRowThreads), days::ceil_div(p.cols, kColThreads));
  days::require_needs(p, "wrong_way", kColsAlongY);
  wrong_way_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.rows, p.cols, p.pitch);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
