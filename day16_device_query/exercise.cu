// SPDX-License-Identifier: MIT
//
// Exercise: a bandwidth probe. Copy n words of 4 bytes with few threads, each of which asks for four vectors
// before it stores the first.
// Gates: every word right for every n; no race; at most 2% wasted sectors, those beyond the fewest that could
// hold what a warp asks for; at least 400 bytes to each request of a warp; at least four loads of a thread
// before its first store; on a GPU, 80% of its measured copy limit.
//   ./days check 16     tells how far you are        ./days hint 16     when you are stuck
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksEach = 2;  // blocks for each multiprocessor: 512 threads, a quarter of what it can hold
constexpr int kVectors = 4;     // 16-byte vectors that a thread copies at a time
constexpr int kTile = 4 * kVectors * kThreads;  // words that a block copies at a time

__global__ void exercise_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  for (int64_t start = int64_t{blockIdx.x} * kTile; start < n; start += int64_t{gridDim.x} * kTile) {
    if (start + kTile <= n) {
      [[maybe_unused]] const uint4* from = reinterpret_cast<const uint4*>(x + start) + threadIdx.x;
      [[maybe_unused]] uint4* to = reinterpret_cast<uint4*>(y + start) + threadIdx.x;
      // This thread's vectors are from[0], from[kThreads], from[2 * kThreads] and from[3 * kThreads].
      // your code
    } else {
      for (int64_t i = start + threadIdx.x; i < n; i += kThreads) y[i] = x[i];  // the last tile only
    }
  }
}

}  // namespace

void exercise(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "exercise: n must be positive, not", p.n);
  days::require_needs(p, "exercise", kAligned);
  const int64_t needed = days::ceil_div(p.n, kTile);
  const int64_t blocks = std::min<int64_t>(needed, kBlocksEach * days::multiprocessors());
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
