// SPDX-License-Identifier: MIT
//
// Fetch once, use 32 times. Changed since direct: a block brings 32 x 32 elements of a and of b into shared
// memory, one of each a thread, and each of them is then used by 32 threads. Where a tile sticks out of a
// matrix, zeros stand in: they add nothing to a sum.
// Bound by: shared memory, two loads for each multiply-add. A block larger than this does not exist.
// Teaches: __shared__, __syncthreads.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

constexpr int kTile = 32;
static_assert(kTile * kTile <= 1024, "a thread an element, and a block has at most 1,024 threads");

__global__ void tiled_kernel(const float* a,  // (m, k)
                             const float* b,  // (k, n)
                             float* c,        // (m, n)
                             int m, int n, int k) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int64_t row = int64_t{blockIdx.y} * kTile + y;
  const int64_t col = int64_t{blockIdx.x} * kTile + x;

  float sum = 0.0f;
  for (int64_t step = 0; step < k; step += kTile) {
    a_tile[y][x] = row < m && step + x < k ? a[row * k + step + x] : 0.0f;
    b_tile[y][x] = step + y < k && col < n ? b[(step + y) * n + col] : 0.0f;
    __syncthreads();  // both tiles are whole
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();  // all have used them: the next two may come
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

}  // namespace

void matmul_tiled(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "tiled");
  days::require_needs(p, "tiled", kMAlongY);
  const dim3 block(kTile, kTile), grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  tiled_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day11
