// SPDX-License-Identifier: MIT
//
// The same loads and stores, at other banks. Changed since vectors: a thread's eight columns are two groups of four,
// 64 apart, and its rows likewise, so that neighbouring lanes read neighbouring float4s of b; and a row of a's
// transposed tile has four floats more, which puts the two halves of a warp's store into different banks.
// Bound by: waiting. Between two barriers everybody fetches, then everybody multiplies.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"
#include "day39_matmul_thread_coarsening/vectors.cuh"

namespace day39 {
namespace {

constexpr int kTile = 128;  // rows and columns of c, a block
constexpr int kDepth = 8;   // of k, at a time
constexpr int kEach = 8;    // rows and columns of c, a thread: two groups of four
constexpr int kHalf = kTile / 2;
constexpr int kAcross = kTile / kEach;
constexpr int kThreads = kAcross * kAcross;
constexpr int kPitch = kTile + 4;  // of a's tile

__global__ void __launch_bounds__(kThreads) spread_kernel(const float* a,  // (m, k)
                                                          const float* b,  // (k, n)
                                                          float* c,        // (m, n)
                                                          int m, int n, int k) {
  __shared__ __align__(16) float a_tile[kDepth][kPitch];  // transposed
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int a_row = thread / 2, a_col = thread % 2 * 4;  // what this thread copies
  const int b_row = thread / 32, b_col = thread % 32 * 4;
  const int row = thread / kAcross * 4, col = thread % kAcross * 4;  // of its first group
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  float sums[kEach][kEach] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    scatter4(&a_tile[a_col][a_row], kPitch,
             row0 + a_row < m && a_col < k - k0 ? load4(a + (int64_t{row0} + a_row) * k + k0 + a_col) : zero);
    store4(&b_tile[b_row][b_col],
           b_row < k - k0 && col0 + b_col < n ? load4(b + (int64_t{k0} + b_row) * n + col0 + b_col) : zero);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kEach], y[kEach];
      for (int r = 0; r < kEach; r += 4) {
        store4(x + r, load4(&a_tile[i][row + r / 4 * kHalf]));
      }
      for (int s = 0; s < kEach; s += 4) {
        store4(y + s, load4(&b_tile[i][col + s / 4 * kHalf]));
      }
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    const int to_row = row0 + row + r / 4 * kHalf + r % 4;
    for (int s = 0; s < kEach; s += 4) {
      const int64_t to_col = col0 + col + s / 4 * kHalf;
      if (to_row < m && to_col < n) store4_streaming(c + int64_t{to_row} * n + to_col, &sums[r][s]);
    }
  }
}

}  // namespace

void matmul_spread(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "spread");
  days::require_needs(p, "spread", kWholeVectors, kRowsBy128);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  spread_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
