// SPDX-License-Identifier: MIT
//
// Sixteen bytes a lane on the coalesced side too. Changed since broadcast: a thread owns four neighbouring
// columns, reads four floats of b at once, and uses each float of a four times. A warp's read of b is 512
// bytes, 16 sectors in one request.
// Needs n % 4 == 0 as well. Bound by: what L1 delivers still, 160 bytes for 32 multiply-adds instead of 256.
// What lies in a register need not pass through it again.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 8;     // of c, a block
constexpr int kGroups = 32;  // of four columns each
constexpr int kCols = 4 * kGroups;

__global__ void wide_kernel(const float* a,  // (m, k)
                            const float* b,  // (k, n)
                            float* c,        // (m, n)
                            int m, int n, int k) {
  const int row = blockIdx.y * kRows + threadIdx.x / kGroups;
  const int col = blockIdx.x * kCols + threadIdx.x % kGroups * 4;
  if (row >= m || col >= n) return;

  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const auto add = [&](float x, int64_t i) {
    const float4 y = *reinterpret_cast<const float4*>(b + i * n + col);
    sum.x += x * y.x;
    sum.y += x * y.y;
    sum.z += x * y.z;
    sum.w += x * y.w;
  };
  for (int i = 0; i < k; i += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + int64_t{row} * k + i);
    add(x.x, int64_t{i});
    add(x.y, int64_t{i} + 1);
    add(x.z, int64_t{i} + 2);
    add(x.w, int64_t{i} + 3);
  }
  *reinterpret_cast<float4*>(c + int64_t{row} * n + col) = sum;
}

}  // namespace

void matmul_wide(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "wide");
  days::require_needs(p, "wide", kWholeN, kWholeK, kAligned, kMAlongY);
  const dim3 grid(days::ceil_div(p.n, kCols), days::ceil_div(p.m, kRows));
  wide_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day06
