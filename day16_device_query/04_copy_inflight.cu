// SPDX-License-Identifier: MIT
//
// As few threads, but each asks for four vectors before it stores the first.
// Changed since few: 64 bytes in flight from each thread instead of 16.
// Bound by: bytes in flight, on average: 512 x 64 bytes = 32 KiB, as much as vector has with four times the
// threads, but none while a thread stores.

#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksEach = 2;  // blocks for each multiprocessor: 512 threads, a quarter of what it can hold
constexpr int kVectors = 4;     // 16-byte vectors a thread has in flight
constexpr int kTile = 4 * kVectors * kThreads;  // elements a block copies at a time

__global__ void inflight_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  for (int64_t start = int64_t{blockIdx.x} * kTile; start < n; start += int64_t{gridDim.x} * kTile) {
    if (start + kTile <= n) {
      // Neighbouring threads take neighbouring vectors, so that each load of a warp is 512 contiguous bytes.
      const uint4* from = reinterpret_cast<const uint4*>(x + start) + threadIdx.x;
      uint4* to = reinterpret_cast<uint4*>(y + start) + threadIdx.x;
      uint4 v[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) v[i] = from[i * kThreads];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) to[i * kThreads] = v[i];
    } else {
      for (int64_t i = start + threadIdx.x; i < n; i += kThreads) y[i] = x[i];  // the last tile only
    }
  }
}

}  // namespace

void copy_inflight(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "inflight: n must be positive, not", p.n);
  days::require_needs(p, "inflight", kAligned);
  const int64_t needed = days::ceil_div(p.n, kTile);
  const int64_t blocks = std::min<int64_t>(needed, kBlocksEach * days::multiprocessors());
  inflight_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
