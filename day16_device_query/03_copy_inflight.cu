// SPDX-License-Identifier: MIT
//
// One thread asks for four 16-byte vectors before it stores the first. Changed since vector: four times the
// bytes in flight from each thread, and hints that nothing here is used again (__ldcs, __stcs: first to leave
// the caches). Bound by: memory alone. More in flight than latency x bandwidth changes nothing any more.

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;                     // 16-byte vectors a thread has in flight
constexpr int kTile = 4 * kVectors * kThreads;  // elements a block copies

__global__ void inflight_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t start = int64_t{blockIdx.x} * kTile;
  if (start + kTile <= n) {
    // Neighbouring threads take neighbouring vectors, so that each load of a warp is 512 contiguous bytes.
    const uint4* from = reinterpret_cast<const uint4*>(x + start) + threadIdx.x;
    uint4* to = reinterpret_cast<uint4*>(y + start) + threadIdx.x;
    uint4 v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) v[i] = __ldcs(from + i * kThreads);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) __stcs(to + i * kThreads, v[i]);
  } else {
    for (int64_t i = start + threadIdx.x; i < n; i += kThreads) y[i] = x[i];  // the last block only
  }
}

}  // namespace

void copy_inflight(const Copy<uint32_t>& p, cudaStream_t stream) {
  days::require(p.n > 0, "inflight: n must be positive, not", p.n);
  days::require(days::aligned16(p.x, p.y), "inflight: x and y must be aligned to 16 bytes");
  const int64_t blocks = days::ceil_div(p.n, kTile);
  days::require(blocks <= days::kMaxGridX, "inflight: a grid has at most 2^31 - 1 blocks of 4096; n is", p.n);
  inflight_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day16
