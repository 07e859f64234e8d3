// SPDX-License-Identifier: MIT
//
// A layer, tanh(a * b + bias) + residual, as passes over c after the product.
//
// separate: one pass for the bias, one for tanh, one for the residual. An element of c is written four times and
// read three times, and the residual's once: 32 bytes. Bound by: memory in the passes, where k is small.
//
// joined: Changed since separate: one pass does all three, by an epilogue that is composed of them
// (common/epilogue.cuh). 16 bytes. Bound by: the same, in its pass.

#include <cstdint>

#include "common/check.h"
#include "common/epilogue.cuh"
#include "common/util.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/tile.cuh"

namespace day10 {
namespace {

__global__ void product_kernel(const days::Matmul<float> p) {
  const Sums s = tile_product(p);
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = s.row + kRows * j;
    if (row < p.m && s.col < p.n) p.c[row * p.n + s.col] = s.sum[j];
  }
}

// c = epilogue(c), in the same tiles.
template <class Epilogue>
__global__ void pass_kernel(float* c,  // (m, n)
                            int m, int n, const Epilogue epilogue) {
  const int64_t row0 = int64_t{blockIdx.y} * kTile + threadIdx.y,
                col = int64_t{blockIdx.x} * kTile + threadIdx.x;
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = row0 + kRows * j;
    if (row < m && col < n) c[row * n + col] = epilogue(c[row * n + col], row, col);
  }
}

void product(const days::Matmul<float>& p, cudaStream_t stream) {
  product_kernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

template <class Epilogue>
void pass(const Layer<float>& p, const Epilogue& epilogue, cudaStream_t stream) {
  pass_kernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p.c, p.m, p.n, epilogue);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void layer_separate(const Layer<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "separate");
  days::require_needs(p, "separate", kMAlongY);
  product(p, stream);
  pass(p, days::AddBias<float>{p.bias}, stream);
  pass(p, days::Tanh{}, stream);
  pass(p, days::AddResidual<float>{p.residual, p.n}, stream);
}

void layer_joined(const Layer<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "joined");
  days::require_needs(p, "joined", kMAlongY);
  product(p, stream);
  finish_layer(p, stream);
}

void finish_layer(const Layer<float>& p, cudaStream_t stream) {
  pass(p,
       days::in_order(days::AddBias<float>{p.bias}, days::Tanh{}, days::AddResidual<float>{p.residual, p.n}),
       stream);
}

}  // namespace day10
