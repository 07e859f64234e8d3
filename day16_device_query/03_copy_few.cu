// SPDX-License-Identifier: MIT
//
// The same 16 bytes a thread, but few threads, which stay and walk over the array.
// Changed since vector: 512 threads on each multiprocessor instead of 2,048.
// Bound by: bytes in flight. 512 x 16 bytes = 8 KiB, as little as element has with four times the threads.

#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksEach = 2;  // blocks for each multiprocessor: 512 threads, a quarter of what it can hold

__global__ void few_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t stride = 4 * int64_t{gridDim.x} * blockDim.x;
  for (int64_t first = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x); first < n; first += stride) {
    if (first + 4 <= n) {
      *reinterpret_cast<uint4*>(y + first) = *reinterpret_cast<const uint4*>(x + first);
    } else {
      for (int64_t i = first; i < n; ++i) y[i] = x[i];  // at most three, in one thread of the grid
    }
  }
}

}  // namespace

void copy_few(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "few: n must be positive, not", p.n);
  days::require_needs(p, "few", kAligned);
  const int64_t needed = days::ceil_div(p.n, 4 * kThreads);
  const int64_t blocks = std::min<int64_t>(needed, kBlocksEach * days::multiprocessors());
  few_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
