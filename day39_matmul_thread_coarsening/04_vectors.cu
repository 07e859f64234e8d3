// SPDX-License-Identifier: MIT
//
// Four floats an instruction. Changed since square: global memory is read and written, and shared memory read, as
// float4, so 64 multiply-adds need 4 loads instead of 16 (nvcc made wide loads of square's by itself, but of four
// steps' floats). The eight floats of a of one step are neighbours once a's tile is stored transposed.
// Needs n % 4 == 0, k % 4 == 0 and aligned matrices. (__stcs is a plain store that asks to leave the caches first;
// written as a plain one, nvcc splits half of them into single floats.) Bound by: bank conflicts, of b's loads and
// of a's stores.
// Teaches: float4.

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
static_assert(kTile * kDepth == 4 * kThreads, "each thread copies one float4 of a and one of b");

__global__ void __launch_bounds__(kThreads) vectors_kernel(const float* a,  // (m, k)
                                                           const float* b,  // (k, n)
                                                           float* c,        // (m, n)
                                                           int m, int n, int k) {
  __shared__ __align__(16) float a_tile[kDepth][kTile];  // transposed
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int a_row = thread / 2, a_col = thread % 2 * 4;  // what this thread copies
  const int b_row = thread / 32, b_col = thread % 32 * 4;
  const int row = thread / kAcross * kEach, col = thread % kAcross * kEach;
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  float sums[kEach][kEach] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    float4 from_a = zero, from_b = zero;
    if (row0 + a_row < m && a_col < k - k0) {
      from_a = *reinterpret_cast<const float4*>(a + (int64_t{row0} + a_row) * k + k0 + a_col);
    }
    if (b_row < k - k0 && col0 + b_col < n) {
      from_b = *reinterpret_cast<const float4*>(b + (int64_t{k0} + b_row) * n + col0 + b_col);
    }
    a_tile[a_col][a_row] = from_a.x;
    a_tile[a_col + 1][a_row] = from_a.y;
    a_tile[a_col + 2][a_row] = from_a.z;
    a_tile[a_col + 3][a_row] = from_a.w;
    *reinterpret_cast<float4*>(&b_tile[b_row][b_col]) = from_b;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float4 x4[kEach / 4], y4[kEach / 4];
      for (int r = 0; r < kEach / 4; ++r) {
        x4[r] = *reinterpret_cast<const float4*>(&a_tile[i][row + 4 * r]);
      }
      for (int s = 0; s < kEach / 4; ++s) {
        y4[s] = *reinterpret_cast<const float4*>(&b_tile[i][col + 4 * s]);
      }
      const float* x = reinterpret_cast<const float*>(x4);
      const float* y = reinterpret_cast<const float*>(y4);
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    for (int s = 0; s < kEach; s += 4) {
      if (row0 + row + r < m && col0 + col + s < n) {
        float4* to = reinterpret_cast<float4*>(c + (int64_t{row0} + row + r) * n + col0 + col + s);
        __stcs(to, make_float4(sums[r][s], sums[r][s + 1], sums[r][s + 2], sums[r][s + 3]));
      }
    }
  }
}

}  // namespace

void matmul_vectors(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "vectors");
  days::require_needs(p, "vectors", kWholeVectors, kRowsBy128);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  vectors_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
