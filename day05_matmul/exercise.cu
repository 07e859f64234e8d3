// SPDX-License-Identifier: MIT
//
// Exercise: one thread an element of c, a warp on 32 neighbours.
// Gates: every element right for every m, n and k; no race; at most 10% wasted sectors, those beyond the
// fewest that could hold what a warp asks for (lanes_down wastes 85%; a broadcast wastes none).
//   ./days check 5      tells how far you are        ./days hint 5      when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

constexpr int kBlockX = 32;  // one warp: threads are numbered along x first
constexpr int kBlockY = 8;

__global__ void exercise_kernel(const float* a,  // (m, k)
                                const float* b,  // (k, n)
                                float* c,        // (m, n)
                                int m, int n, int k) {
  // 1. Which extent of c should x run along, so that a warp's 32 lanes are neighbours in memory?
  // 2. Threads beyond the matrix have nothing to do.
  // 3. Sum a[row][i] * b[i][col] over i; store the sum in c[row][col]. (Step 4 is at the launch, below.)
  // your code
}

}  // namespace

void exercise(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kMAlongY, kNAlongY);  // both, because y may run along either: leave it
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(1, 1);  // 4. How many blocks along x, and along y? days::ceil_div rounds up.
  exercise_kernel<<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day05
