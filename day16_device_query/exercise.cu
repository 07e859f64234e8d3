// SPDX-License-Identifier: MIT
//
// Exercise: a bandwidth probe. Copy n words of 4 bytes at 90% of what this device's memory can do.
// Gates: every word right for every n; no race; at most 2% wasted sectors, those beyond the fewest that could
// hold what a warp asks for; at least 400 bytes to each request of a warp; on a GPU, 90% of its measured copy
// limit.
//   ./days check 16     tells how far you are        ./days hint 16     when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

// 1. The plan on paper: how many bytes must be in flight (latency x bandwidth), and how many threads with how
//    many bytes each have that many? An SM of an H200 holds 2,048 threads, a T4's 1,024.
constexpr int kThreads = 256;
constexpr int kWords = 1;  // that a thread copies

__global__ void exercise_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  // 2. Which words are this thread's? Its warp's requests must cover whole sectors, side by side.
  // 3. All of them exist: load with as few instructions as you can, then store.
  // 4. Fewer are left at the end of x: one by one.
  // your code
}

}  // namespace

void exercise(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "exercise: n must be positive, not", p.n);
  days::require_needs(p, "exercise", kAligned);
  const int64_t blocks = days::ceil_div(p.n, kWords * kThreads);
  days::require(blocks <= days::kMaxGridX, "exercise: n is too large for one grid:", p.n);
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
