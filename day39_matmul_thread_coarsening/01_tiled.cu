// SPDX-License-Identifier: MIT
//
// A tile in shared memory, the start: a block computes 32 x 32 elements of c, a thread one of them. Each float that
// is fetched from global memory is used 32 times, from shared memory.
// Bound by: shared memory. Each multiply-add needs two loads from it.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

constexpr int kTile = 32;

__global__ void __launch_bounds__(kTile* kTile) tiled_kernel(const float* a,  // (m, k)
                                                             const float* b,  // (k, n)
                                                             float* c,        // (m, n)
                                                             int m, int n, int k) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kTile + ty;
  const int64_t col = int64_t{blockIdx.x} * kTile + tx;

  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    a_tile[ty][tx] = row < m && tx < k - k0 ? a[int64_t{row} * k + k0 + tx] : 0.0f;
    b_tile[ty][tx] = ty < k - k0 && col < n ? b[(int64_t{k0} + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
    __syncthreads();  // the tiles have been used: the next ones may come
  }
  if (row < m && col < n) c[int64_t{row} * n + col] = sum;
}

}  // namespace

void matmul_tiled(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "tiled");
  days::require_needs(p, "tiled", kRowsBy32);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  tiled_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
