// SPDX-License-Identifier: MIT
//
// Exercise: a broadcast that brings 16 bytes instead of 4, so that four multiply-adds need five loads.
// Gates: every element right for every m, n and k that are taken; no race; at most 10% wasted sectors, those
// beyond the fewest that could hold what a warp asks for; a warp asks for at least 200 bytes with one
// instruction (coalesced asks for 128).
//   ./days check 6      tells how far you are        ./days hint 6      when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 8;  // of c, a block
constexpr int kCols = 32;

__global__ void exercise_kernel(const float* a,  // (m, k), k a multiple of 4
                                const float* b,  // (k, n)
                                float* c,        // (m, n)
                                int m, int n, int k) {
  // 1. Which row and column of c are this thread's, if a warp's 32 lanes are to share a row?
  // 2. Threads beyond the matrix have nothing to do.
  // 3. Four steps of the sum at a time: one float4 of a, and four floats of b, one from each of four rows.
  // your code
}

}  // namespace

void exercise(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kWholeK, kAlignedA, kMAlongY);
  const dim3 grid(days::ceil_div(p.n, kCols), days::ceil_div(p.m, kRows));
  exercise_kernel<<<grid, kThreads, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day06
