// SPDX-License-Identifier: MIT
//
// One thread copies one 4-byte element: a warp moves 128 bytes with one load and one store.
// Bound by: bytes in flight. Each thread waits for 4 bytes, so even a full multiprocessor asks for only
// 2,048 threads x 4 bytes = 8 KiB at a time.

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;

__global__ void element_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

}  // namespace

void copy_element(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "element: n must be positive, not", p.n);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, "element: a grid has at most 2^31 - 1 blocks of 256; n is", p.n);
  element_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
