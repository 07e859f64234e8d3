// SPDX-License-Identifier: MIT
//
// One thread copies 16 bytes with one load and one store.
// Changed since element: four times the bytes in flight from each thread, a quarter of the instructions.
// Bound by: memory alone. 2,048 threads x 16 bytes = 32 KiB in flight on a full multiprocessor are enough.
// Teaches: uint4.

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;

__global__ void vector_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t first = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + 4 <= n) {
    *reinterpret_cast<uint4*>(y + first) = *reinterpret_cast<const uint4*>(x + first);
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = x[i];  // at most three, in one thread of the grid
  }
}

}  // namespace

void copy_vector(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "vector: n must be positive, not", p.n);
  days::require_needs(p, "vector", kAligned);
  const int64_t blocks = days::ceil_div(p.n, 4 * kThreads);
  days::require(blocks <= days::kMaxGridX, "vector: a grid has at most 2^31 - 1 blocks of 1024; n is", p.n);
  vector_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
