// SPDX-License-Identifier: MIT
//
// Exercise: eight elements of c a thread, below one another, so that a float of b is loaded from shared memory once
// and used eight times.
// Gates: every element right for every m, n and k; no race; loads of global memory ask for each byte of input at most
// 5 times (tiled, whose block is 32 x 32, asks 8 times); no bank conflict to speak of.
//   ./days check 39      tells how far you are        ./days hint 39      when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

constexpr int kTile = 64;  // rows and columns of c, a block
constexpr int kDepth = 8;  // of k, at a time
constexpr int kEach = 8;   // elements of c below one another, a thread
constexpr int kThreads = kTile * kTile / kEach;
static_assert(kThreads == kTile * kDepth, "each thread copies one float of a and one of b");

__global__ void __launch_bounds__(kThreads) exercise_kernel(const float* a,  // (m, k)
                                                            const float* b,  // (k, n)
                                                            float* c,        // (m, n)
                                                            int m, int n, int k) {
  // 1. Tiles in shared memory: 64 x 8 floats of a, 8 x 64 of b. Which float of each does this thread copy?
  // 2. Which column of the block's 64 x 64 elements is this thread's, and which eight rows?
  // 3. Eight sums. For each of the 8 steps of a tile: one float of b, eight floats of a, eight multiply-adds.
  // 4. Barriers: before the tiles are used, and before they are overwritten. Floats beyond the matrices are 0.
  // your code
}

}  // namespace

void exercise(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kRowsBy64);
  const dim3 grid(days::ceil_div(p.n, kTile), days::ceil_div(p.m, kTile));
  exercise_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
