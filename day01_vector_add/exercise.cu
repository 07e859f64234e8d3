// SPDX-License-Identifier: MIT
//
// Exercise: your first kernel. Each thread adds one element.
// Gates: every element right for every n; no race; at most 10% of the bytes that move are bytes that no thread
// asked for.
//   ./days check 1      tells how far you are        ./days hint 1      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;  // threads in a block

__global__ void exercise_kernel(const float* a, const float* b, float* c, int64_t n) {
  // Every thread runs these lines, each with an i of its own, in 64 bits because n may be large.
  [[maybe_unused]] const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;  // until you use it
  // One line is missing: add element i, if there is one.
  // your code
}

}  // namespace

// Runs on the CPU and starts the kernel: as many blocks of 256 threads as cover n elements.
void exercise(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "exercise: n must be positive, not", p.n);
  const int64_t blocks = days::ceil_div(p.n, kThreads);  // rounded up, so some threads have no element
  days::require(blocks <= days::kMaxGridX, "exercise: n is too large for one grid:", p.n);
  // The third argument: no shared memory beyond what the kernel declares. The fourth: the queue to put it in.
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
