// SPDX-License-Identifier: MIT
//
// A block is one row of 256 threads, and each thread works out its element of c from its number. Here the low
// five bits of the number, the lane, choose the row: the wrong way round of day 05, written as it is most
// often met, with / and %. Bound by: lines looked up in L1. A warp's read of a touches 32 of them, a row
// of a apart.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 32;  // of c, a block
constexpr int kCols = 8;

__global__ void strided_kernel(const float* a,  // (m, k)
                               const float* b,  // (k, n)
                               float* c,        // (m, n)
                               int m, int n, int k) {
  const int row = blockIdx.x * kRows + threadIdx.x % kRows;  // lane 0..31 -> 32 rows
  const int col = blockIdx.y * kCols + threadIdx.x / kRows;  // the same column for the whole warp
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += a[int64_t{row} * k + i] * b[int64_t{i} * n + col];
  }
  c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_strided(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "strided");
  days::require_needs(p, "strided", kNAlongY);
  const dim3 grid(days::ceil_div(p.m, kRows), days::ceil_div(p.n, kCols));
  strided_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day06
