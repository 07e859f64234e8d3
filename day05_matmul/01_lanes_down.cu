// SPDX-License-Identifier: MIT
//
// One thread an element, the wrong way round: neighbouring threads (x) take neighbouring *rows* of c.
// The 32 lanes of a warp then read a and write c at addresses a whole row apart, so each of these requests
// touches 32 sectors of 32 bytes to use 4 bytes of each. The read of b is one sector, the same for all lanes.
// Bound by: looking up 33 lines a step in L1, not by arithmetic and not by DRAM.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

constexpr int kBlockX = 32;  // one warp: threads are numbered along x first
constexpr int kBlockY = 8;

__global__ void lanes_down_kernel(const float* a,  // (m, k)
                                  const float* b,  // (k, n)
                                  float* c,        // (m, n)
                                  int m, int n, int k) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;  // lane 0..31 -> 32 rows
  const int col = blockIdx.y * blockDim.y + threadIdx.y;  // the same column for the whole warp
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += a[int64_t{row} * k + i] * b[int64_t{i} * n + col];
  }
  c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_lanes_down(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "lanes_down");
  days::require_needs(p, "lanes_down", kNAlongY);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.m, kBlockX), days::ceil_div(p.n, kBlockY));
  lanes_down_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day05
