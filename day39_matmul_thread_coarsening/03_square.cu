// SPDX-License-Identifier: MIT
//
// A thread computes a square of 8 x 8. Changed since column: eight floats of a and eight of b are loaded into
// registers, and each is used eight times from there, so 64 multiply-adds need 16 loads. A block's part of c is
// 128 x 128, of 256 threads.
// Bound by: waiting. A thread's registers leave one block a multiprocessor, and nobody multiplies while that fetches.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

constexpr int kTile = 128;  // rows and columns of c, a block
constexpr int kDepth = 8;   // of k, at a time
constexpr int kEach = 8;    // rows and columns of c, a thread
constexpr int kAcross = kTile / kEach;
constexpr int kThreads = kAcross * kAcross;

__global__ void __launch_bounds__(kThreads) square_kernel(const float* a,  // (m, k)
                                                          const float* b,  // (k, n)
                                                          float* c,        // (m, n)
                                                          int m, int n, int k) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int row = thread / kAcross * kEach,
            col = thread % kAcross * kEach;  // of its 8 x 8, in the block's part

  float sums[kEach][kEach] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
      a_tile[a_row][a_col] =
          row0 + a_row < m && a_col < k - k0 ? a[(int64_t{row0} + a_row) * k + k0 + a_col] : 0.0f;
      b_tile[b_row][b_col] =
          b_row < k - k0 && col0 + b_col < n ? b[(int64_t{k0} + b_row) * n + col0 + b_col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kEach], y[kEach];  // in registers
      for (int r = 0; r < kEach; ++r) x[r] = a_tile[row + r][i];
      for (int s = 0; s < kEach; ++s) y[s] = b_tile[i][col + s];
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    for (int s = 0; s < kEach; ++s) {
      if (row0 + row + r < m && col0 + col + s < n) {
        c[(int64_t{row0} + row + r) * n + col0 + col + s] = sums[r][s];
      }
    }
  }
}

}  // namespace

void matmul_square(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "square");
  days::require_needs(p, "square", kRowsBy128);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  square_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
