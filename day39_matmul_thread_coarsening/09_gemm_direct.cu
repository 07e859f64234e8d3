// SPDX-License-Identifier: MIT
//
// The general product as it is defined: an element of c a thread, c = alpha * op(a) * op(b) + beta * c. What is
// transposed is only looked up elsewhere, so one of four forms reads each matrix along its rows.
// Bound by: what L1 delivers, and by lines where a warp's lanes read down a column.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void __launch_bounds__(kBlockX* kBlockY) direct_kernel(const Gemm<float> p) {
  const int row = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
  const int64_t col = int64_t{blockIdx.x} * kBlockX + threadIdx.x;
  if (row >= p.m || col >= p.n) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[p.at_a(row, i)] * p.b[p.at_b(i, col)];
  float value = p.alpha * sum;
  if (p.beta != 0.0f) value += p.beta * p.c[p.at_c(row, col)];  // else c is not read: it may hold NaN
  p.c[p.at_c(row, col)] = value;
}

}  // namespace

void gemm_direct(const Gemm<float>& p, cudaStream_t stream) {
  days::require_gemm(p, "gemm_direct");
  days::require_needs(p, "gemm_direct", kRowsBy8);
  const dim3 grid(days::ceil_div(p.n, kBlockX), days::ceil_div(p.m, kBlockY));
  direct_kernel<<<grid, dim3(kBlockX, kBlockY), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
