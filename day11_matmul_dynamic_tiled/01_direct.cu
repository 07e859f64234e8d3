// SPDX-License-Identifier: MIT
//
// A thread makes one element of c and fetches what it multiplies from global memory: day 06's coalesced, with a
// block of 32 x 32. Each element of a is asked for by n threads, each of b by m.
// Bound by: L1, two loads for each multiply-add; what L1 does not have any more is fetched again.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

constexpr int kTile = 32;

__global__ void direct_kernel(const float* a,  // (m, k)
                              const float* b,  // (k, n)
                              float* c,        // (m, n)
                              int m, int n, int k) {
  const int64_t row = int64_t{blockIdx.y} * kTile + threadIdx.y;
  const int64_t col = int64_t{blockIdx.x} * kTile + threadIdx.x;
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += a[row * k + i] * b[int64_t{i} * n + col];
  }
  c[row * n + col] = sum;
}

}  // namespace

void matmul_direct(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "direct");
  days::require_needs(p, "direct", kMAlongY);
  const dim3 block(kTile, kTile), grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  direct_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day11
