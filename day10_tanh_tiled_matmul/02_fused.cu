// SPDX-License-Identifier: MIT
//
// tanh in the epilogue, what a kernel does with a sum before it stores it. Changed since in_place: one kernel, and
// an element of c is written once, 4 bytes instead of 12.
// Bound by: instructions, which at k = 8 are mostly those around the sums; at large k fusing saves next to nothing.
// Teaches: tanhf.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/tile.cuh"

namespace day10 {
namespace {

__global__ void fused_kernel(const days::Matmul<float> p) {
  const Sums s = tile_product(p);
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = s.row + kRows * j;
    if (row < p.m && s.col < p.n) p.c[row * p.n + s.col] = tanhf(s.sum[j]);
  }
}

}  // namespace

void tanh_fused(const TanhMatmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "fused");
  days::require_needs(p, "fused", kMAlongY);
  fused_kernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day10
