// SPDX-License-Identifier: MIT
//
// A warp computes a square, too. Changed since buffered: a thread makes 8 x 16 elements, and a warp's lanes stand
// 8 x 4, so that 32 of them make 64 x 64. For 128 multiply-adds a thread loads 24 floats in six loads, where 16
// floats in four were needed for 64: 24 turns of shared memory for 32 turns of arithmetic. A block has half as many
// threads, with almost all the registers that there are.
// Bound by: the registers of the multiply-adds, and answers of shared memory, which eight warps do not hide.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"
#include "day39_matmul_thread_coarsening/vectors.cuh"

namespace day39 {
namespace {

constexpr int kTile = 128;            // rows and columns of c, a block: 2 x 2 warps
constexpr int kWarpTile = 64;         // a warp: 8 x 4 lanes
constexpr int kDepth = 8;             // of k, at a time
constexpr int kRows = 8, kCols = 16;  // of c, a thread: in groups of four
constexpr int kRowLanes = 8, kColLanes = 4;
constexpr int kThreads = 128;
constexpr int kPitch = kTile + 4;  // of a's tile
static_assert(kRowLanes * kRows == kWarpTile && kColLanes * kCols == kWarpTile);

__global__ void __launch_bounds__(kThreads, 2) warps_kernel(const float* a,  // (m, k)
                                                            const float* b,  // (k, n)
                                                            float* c,        // (m, n)
                                                            int m, int n, int k) {
  __shared__ __align__(16) float a_tile[2][kDepth][kPitch];  // transposed
  __shared__ __align__(16) float b_tile[2][kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int64_t col0 = int64_t{blockIdx.x} * kTile;
  const int a_row = thread / 2,
            a_col = thread % 2 * 4;  // what this thread copies: two float4s of each matrix,
  const int b_row = thread / 32, b_col = thread % 32 * 4;  // 64 rows of a and 4 rows of b apart
  const int warp = thread / days::kWarpSize, lane = thread % days::kWarpSize;
  const int row = warp / 2 * kWarpTile + lane / kColLanes * 4;  // of its first group; the others are 32 rows
  const int col = warp % 2 * kWarpTile + lane % kColLanes * 4;  // and 16 columns apart
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

  float4 next_a[2], next_b[2];
  const auto fetch = [&](int k0) {
    for (int i = 0; i < 2; ++i) {
      const int from = row0 + a_row + i * 64, deep = k0 + b_row + i * 4;
      next_a[i] = from < m && k0 + a_col < k ? load4(a + int64_t{from} * k + k0 + a_col) : zero;
      next_b[i] = deep < k && col0 + b_col < n ? load4(b + int64_t{deep} * n + col0 + b_col) : zero;
    }
  };
  const auto keep = [&](int buffer) {
    for (int i = 0; i < 2; ++i) {
      scatter4(&a_tile[buffer][a_col][a_row + i * 64], kPitch, next_a[i]);
      store4(&b_tile[buffer][b_row + i * 4][b_col], next_b[i]);
    }
  };

  float sums[kRows][kCols] = {};
  fetch(0);
  keep(0);
  __syncthreads();
  for (int k0 = 0, buffer = 0; k0 < k; k0 += kDepth, buffer ^= 1) {
    fetch(k0 + kDepth);  // zeros past k, as in buffered
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kRows], y[kCols];
      for (int r = 0; r < kRows; r += 4) {
        store4(x + r, load4(&a_tile[buffer][i][row + r * kRowLanes]));
      }
      for (int s = 0; s < kCols; s += 4) {
        store4(y + s, load4(&b_tile[buffer][i][col + s * kColLanes]));
      }
      for (int r = 0; r < kRows; ++r) {
        for (int s = 0; s < kCols; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    keep(buffer ^ 1);
    __syncthreads();
  }
  for (int r = 0; r < kRows; ++r) {
    const int to_row = row0 + row + r / 4 * 4 * kRowLanes + r % 4;
    for (int s = 0; s < kCols; s += 4) {
      const int64_t to_col = col0 + col + s * kColLanes;
      if (to_row < m && to_col < n) store4_streaming(c + int64_t{to_row} * n + to_col, &sums[r][s]);
    }
  }
}

}  // namespace

void matmul_warps(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "warps");
  days::require_needs(p, "warps", kWholeVectors, kRowsBy128);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  warps_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
