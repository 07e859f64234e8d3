// SPDX-License-Identifier: MIT
//
// The lane chooses the column. Changed since strided: / and % have swapped places, and the block's 32 x 8
// elements of c lie on their side. A warp's read of b is now coalesced, 4 sectors for 32 floats, and so is
// its write of c; its read of a is one float for all lanes, a broadcast. Bound by: two loads for each
// multiply-add, a turn of L1 each, however few sectors they move.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 8;  // of c, a block
constexpr int kCols = 32;

__global__ void coalesced_kernel(const float* a,  // (m, k)
                                 const float* b,  // (k, n)
                                 float* c,        // (m, n)
                                 int m, int n, int k) {
  const int row = blockIdx.y * kRows + threadIdx.x / kCols;  // the same row for the whole warp
  const int col = blockIdx.x * kCols + threadIdx.x % kCols;  // lane 0..31 -> 32 columns
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += a[int64_t{row} * k + i] * b[int64_t{i} * n + col];
  }
  c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_coalesced(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "coalesced");
  days::require_needs(p, "coalesced", kMAlongY);
  const dim3 grid(days::ceil_div(p.n, kCols), days::ceil_div(p.m, kRows));
  coalesced_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day06
