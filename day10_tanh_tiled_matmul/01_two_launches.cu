// SPDX-License-Identifier: MIT
//
// A kernel for the product and a kernel for tanh, as a library has them.
//
// alone: tanh of each element, a thread for each. 8 bytes. Bound by: memory.
//
// two_launches: the product goes to the workspace, and tanh reads it from there. An element of c is written,
// read, and written: 12 bytes.
// Bound by: instructions in the product, where k is small, and memory in the pass.
//
// in_place: Changed since two_launches: the product goes to c, and tanh changes it there. No workspace; the
// bytes stay. Bound by: the same.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/tile.cuh"

namespace day10 {
namespace {

constexpr int kThreads = 256;

__global__ void product_kernel(const days::Matmul<float> p) {
  const Sums s = tile_product(p);
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = s.row + kRows * j;
    if (row < p.m && s.col < p.n) p.c[row * p.n + s.col] = s.sum[j];
  }
}

__global__ void tanh_kernel(const float* x, float* y, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) y[i] = tanhf(x[i]);
}

void tanh_of_all(const float* x, float* y, int64_t count, const char* variant, cudaStream_t stream) {
  tanh_kernel<<<days::grid_of(count, kThreads, variant), kThreads, 0, stream>>>(x, y, count);
  CUDA_CHECK_LAUNCH();
}

void product_then_tanh(days::Matmul<float> p, float* product, const char* variant, cudaStream_t stream) {
  float* const c = p.c;
  p.c = product;
  product_kernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  tanh_of_all(product, c, int64_t{p.m} * p.n, variant, stream);
}

}  // namespace

void tanh_alone(const TanhOf<float>& p, cudaStream_t stream) {
  tanh_of_all(p.x, p.y, p.n, "alone", stream);
}

void tanh_two_launches(const TanhMatmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "two_launches");
  days::require_needs(p, "two_launches", kMAlongY);
  const size_t bytes = tanh_two_launches_workspace(p);
  days::require(p.workspace.bytes >= bytes, "two_launches: needs a workspace of", bytes, " bytes, not",
                p.workspace.bytes);
  product_then_tanh(p, static_cast<float*>(p.workspace.data), "two_launches", stream);
}

void tanh_in_place(const TanhMatmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "in_place");
  days::require_needs(p, "in_place", kMAlongY);
  product_then_tanh(p, p.c, "in_place", stream);
}

}  // namespace day10
