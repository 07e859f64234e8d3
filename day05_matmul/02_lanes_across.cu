// SPDX-License-Identifier: MIT
//
// One thread an element, the right way round: neighbouring threads (x) take neighbouring *columns* of c.
// Changed since lanes_down: x and y have swapped roles, nothing else. A warp now reads one element of a (1 sector)
// and 32 neighbours of b (4 sectors, all bytes used), and writes 4 full sectors of c.
// Bound by: two requests for each step of a warp; day 06 brings more with each.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

constexpr int kBlockX = 32;  // one warp: threads are numbered along x first
constexpr int kBlockY = 8;

__global__ void lanes_across_kernel(const float* a,  // (m, k)
                                    const float* b,  // (k, n)
                                    float* c,        // (m, n)
                                    int m, int n, int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;  // lane 0..31 -> 32 columns
  const int row = blockIdx.y * blockDim.y + threadIdx.y;  // the same row for the whole warp
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += a[int64_t{row} * k + i] * b[int64_t{i} * n + col];
  }
  c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_lanes_across(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "lanes_across");
  days::require_needs(p, "lanes_across", kMAlongY);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.n, kBlockX), days::ceil_div(p.m, kBlockY));
  lanes_across_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day05
