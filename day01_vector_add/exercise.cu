// SPDX-License-Identifier: MIT
//
// Exercise: add two vectors with 16-byte loads and stores, any n.
// Gates: every element right for every n; no race; at least 400 bytes to each request of a warp (its 32
// lanes with a float each ask for 128); on a GPU, 95% of what its memory gives to two reads and a write.
//   ./days check 1      tells how far you are        ./days hint 1      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

__global__ void exercise_kernel(const float* a, const float* b, float* c, int64_t n) {
  // 1. Which four neighbouring elements are this thread's? Compute the index of the first in 64 bits.
  // 2. All four exist: one float4 from a, one from b, one to c.
  // 3. Fewer than four are left at the end of the vector: one by one.
  // your code
}

}  // namespace

void exercise(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "exercise: n must be positive, not", p.n);
  days::require_needs(p, "exercise", kAligned);
  const int64_t blocks = days::ceil_div(p.n, 4 * kThreads);
  days::require(blocks <= days::kMaxGridX, "exercise: n is too large for one grid:", p.n);
  // The third argument: no shared memory beyond what the kernel declares. The fourth: the queue to put it in.
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
