// SPDX-License-Identifier: MIT
//
// A thread computes eight elements below one another. Changed since tiled: a float of b is loaded once and
// multiplied by eight floats of a, so eight multiply-adds need nine loads instead of sixteen; and because a thread
// makes more, the block's part of c is 64 x 64, with half as many threads.
// Bound by: shared memory still, with more than a load for each multiply-add.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

constexpr int kTile = 64;  // rows and columns of c, a block
constexpr int kDepth = 8;  // of k, at a time
constexpr int kEach = 8;   // elements of c below one another, a thread
constexpr int kThreads = kTile * kTile / kEach;
static_assert(kThreads == kTile * kDepth, "each thread copies one float of a and one of b");

__global__ void __launch_bounds__(kThreads) column_kernel(const float* a,  // (m, k)
                                                          const float* b,  // (k, n)
                                                          float* c,        // (m, n)
                                                          int m, int n, int k) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int a_row = thread / kDepth, a_col = thread % kDepth;  // what this thread copies
  const int b_row = thread / kTile, b_col = thread % kTile;
  const int first = thread / kTile * kEach, col = thread % kTile;  // what it computes: 8 rows, a column

  float sums[kEach] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    a_tile[a_row][a_col] =
        row0 + a_row < m && a_col < k - k0 ? a[(int64_t{row0} + a_row) * k + k0 + a_col] : 0.0f;
    b_tile[b_row][b_col] =
        b_row < k - k0 && col0 + b_col < n ? b[(int64_t{k0} + b_row) * n + col0 + b_col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float y = b_tile[i][col];
      for (int r = 0; r < kEach; ++r) sums[r] += a_tile[first + r][i] * y;
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    if (row0 + first + r < m && col0 + col < n) c[(int64_t{row0} + first + r) * n + col0 + col] = sums[r];
  }
}

}  // namespace

void matmul_column(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "column");
  days::require_needs(p, "column", kRowsBy64);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  column_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
