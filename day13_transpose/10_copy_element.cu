// SPDX-License-Identifier: MIT
//
// No transpose: naive's grid and block, but out has in's layout. The difference between this and naive is
// what turning costs; the difference between this and the limit is what a thread for each 4 bytes costs.
// Bound by: bytes in flight.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void copy_element_kernel(const float* in,  // (rows, cols)
                                    float* out,       // (rows, cols)
                                    int rows, int cols) {
  const int64_t col = int64_t{blockIdx.x} * kBlockX + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * kBlockY + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

}  // namespace

void copy_element(const Copy2D<float>& p, cudaStream_t stream) {
  require_problem(p, "element");
  days::require_needs(p, "element", kRowsBy8);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.cols, kBlockX), days::ceil_div(p.rows, kBlockY));
  copy_element_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day13
