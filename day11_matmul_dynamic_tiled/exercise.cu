// SPDX-License-Identifier: MIT
//
// Exercise: fetch each element of a and b once for 32 threads, by a tile in shared memory.
// Gates: every element right for every m, n and k; no race; at most 14 bytes loaded from global memory for each
// byte of input (direct asks for 384).
//   ./days check 11      tells how far you are        ./days hint 11      when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

constexpr int kTile = 32;

__global__ void exercise_kernel(const float* a,  // (m, k)
                                const float* b,  // (k, n)
                                float* c,        // (m, n)
                                int m, int n, int k) {
  // 1. Two arrays in shared memory, 32 x 32 each. Which element of a, which of b does this thread fetch into them?
  //    What does it put there where the matrix has no such element?
  // 2. When may a thread read what the others have fetched? When may it fetch the next?
  // 3. Only threads inside c store, but all of them fetch.
  // your code
}

}  // namespace

void exercise(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kMAlongY);
  const dim3 block(kTile, kTile), grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  exercise_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day11
