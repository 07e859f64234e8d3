// SPDX-License-Identifier: MIT
// Four columns a thread, 16 bytes an access, as float4 does for the vector. That needs every row to start at
// a multiple of 16 bytes, which any number of columns gets once the pitch is rounded up: it is what the pitch
// is for (cudaMallocPitch). Since right_way: a quarter of the instructions, and no limit on rows, as each
// thread steps down by the whole grid. Bound by: memory alone.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kColThreads = 32;
constexpr int kRowThreads = 8;
constexpr int kMaxRowBlocks = 2048;  // of the 65535 that a grid may have in y; 16384 rows in one step

__global__ void row_float4_kernel(const float* a, const float* b, float* c, int rows, int cols,
                                  int64_t pitch) {
  const int64_t col = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  const int64_t row_step = int64_t{gridDim.y} * blockDim.y;
  for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows; row += row_step) {
    const int64_t i = row * pitch + col;
    if (col + 4 <= cols) {
      const float4 x = *reinterpret_cast<const float4*>(a + i);
      const float4 y = *reinterpret_cast<const float4*>(b + i);
      *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
      for (int64_t j = 0; col + j < cols; ++j) c[i + j] = a[i + j] + b[i + j];  // a row's last one to three
    }
  }
}

}  // namespace

void matrix_add_row_float4(const MatrixAdd<float>& p, cudaStream_t stream) {
  require_extents(p, "row_float4");
  days::require_needs(p, "row_float4", kWholeVectors, kAligned);
  const dim3 block(kColThreads, kRowThreads);
  const dim3 grid(days::ceil_div(p.cols, 4 * kColThreads),
                  std::min(days::ceil_div(p.rows, kRowThreads), kMaxRowBlocks));
  row_float4_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.rows, p.cols, p.pitch);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
