// SPDX-License-Identifier: MIT
//
// A kernel that does not know its epilogue. Changed since joined: the composed epilogue is the product's own, so
// that there is one kernel and no pass. An element of c is written once and one of the residual read: 8 bytes.
// Bound by: instructions, as fused, by their count.
// Teaches: Epilogue.

#include <cstdint>

#include "common/check.h"
#include "common/epilogue.cuh"
#include "common/util.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/tile.cuh"

namespace day10 {
namespace {

template <class Epilogue>
__global__ void composed_kernel(const days::Matmul<float> p, const Epilogue epilogue) {
  const Sums s = tile_product(p);
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = s.row + kRows * j;
    if (row < p.m && s.col < p.n) p.c[row * p.n + s.col] = epilogue(s.sum[j], row, s.col);
  }
}

}  // namespace

void layer_composed(const Layer<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "composed");
  days::require_needs(p, "composed", kMAlongY);
  const auto epilogue =
      days::in_order(days::AddBias<float>{p.bias}, days::Tanh{}, days::AddResidual<float>{p.residual, p.n});
  composed_kernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p, epilogue);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day10
