// SPDX-License-Identifier: MIT
//
// Two tiles of each matrix, used by turns. Changed since spread: while a block multiplies one pair of tiles, its
// threads already hold the next pair in registers, or on the way there; once they have multiplied they write it
// where nobody reads, so one barrier a step is enough. After the last pair they fetch and write zeros that nobody
// reads: inside an `if` the fetch would sink behind the multiply-adds (nvcc 13.0) and hide nothing.
// Bound by: shared memory, which needs as many turns as the arithmetic, and the registers of the multiply-adds.

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

__global__ void __launch_bounds__(kThreads, 2) buffered_kernel(const float* a,  // (m, k)
                                                               const float* b,  // (k, n)
                                                               float* c,        // (m, n)
                                                               int m, int n, int k) {
  __shared__ __align__(16) float a_tile[2][kDepth][kPitch];  // transposed
  __shared__ __align__(16) float b_tile[2][kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int a_row = thread / 2, a_col = thread % 2 * 4;  // what this thread copies
  const int b_row = thread / 32, b_col = thread % 32 * 4;
  const int row = thread / kAcross * 4, col = thread % kAcross * 4;  // of its first group
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  float4 next_a, next_b;
  const auto fetch = [&](int k0) {
    next_a = row0 + a_row < m && a_col < k - k0 ? load4(a + (int64_t{row0} + a_row) * k + k0 + a_col) : zero;
    next_b = b_row < k - k0 && col0 + b_col < n ? load4(b + (int64_t{k0} + b_row) * n + col0 + b_col) : zero;
  };
  const auto keep = [&](int buffer) {
    scatter4(&a_tile[buffer][a_col][a_row], kPitch, next_a);
    store4(&b_tile[buffer][b_row][b_col], next_b);
  };

  float sums[kEach][kEach] = {};
  fetch(0);
  keep(0);
  __syncthreads();
  for (int k0 = 0, buffer = 0; k0 < k; k0 += kDepth, buffer ^= 1) {
    fetch(k0 + kDepth);  // nobody waits for it yet; zeros past k
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kEach], y[kEach];
      for (int r = 0; r < kEach; r += 4) {
        store4(x + r, load4(&a_tile[buffer][i][row + r / 4 * kHalf]));
      }
      for (int s = 0; s < kEach; s += 4) {
        store4(y + s, load4(&b_tile[buffer][i][col + s / 4 * kHalf]));
      }
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    keep(buffer ^ 1);
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

void matmul_buffered(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "buffered");
  days::require_needs(p, "buffered", kWholeVectors, kRowsBy128);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  buffered_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
