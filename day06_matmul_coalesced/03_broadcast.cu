// SPDX-License-Identifier: MIT
//
// A broadcast moves a whole sector to deliver 4 bytes: make it deliver 16. Changed since coalesced: a is read
// four steps of the loop at a time, one 16-byte load for all lanes, still one sector.
// Needs k % 4 == 0, or the rows of a would not start at multiples of 16 bytes.
// Bound by: what L1 delivers. 5 requests for 4 multiply-adds instead of 8, but 16 bytes for each of 32 lanes
// take it four turns, broadcast or not.
// Teaches: float4.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 8;  // of c, a block
constexpr int kCols = 32;

__global__ void broadcast_kernel(const float* a,  // (m, k)
                                 const float* b,  // (k, n)
                                 float* c,        // (m, n)
                                 int m, int n, int k) {
  const int row = blockIdx.y * kRows + threadIdx.x / kCols;
  const int col = blockIdx.x * kCols + threadIdx.x % kCols;
  if (row >= m || col >= n) return;

  float sum = 0.0f;
  for (int i = 0; i < k; i += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + int64_t{row} * k + i);
    const float* y = b + int64_t{i} * n + col;
    sum += x.x * y[0];
    sum += x.y * y[int64_t{n}];
    sum += x.z * y[int64_t{n} * 2];
    sum += x.w * y[int64_t{n} * 3];
  }
  c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_broadcast(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "broadcast");
  days::require_needs(p, "broadcast", kWholeK, kAlignedA, kMAlongY);
  const dim3 grid(days::ceil_div(p.n, kCols), days::ceil_div(p.m, kRows));
  broadcast_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day06
