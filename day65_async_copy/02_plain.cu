// SPDX-License-Identifier: MIT
//
// A block marches down its strip of columns. Each row is loaded once, into shared memory, and added to the nine sums that it
// belongs to: load, barrier, compute, barrier.
// Changed since direct: 1 load of 16 bytes for 4 elements, where there were 68 of 4 bytes.
// Bound by: bytes in flight. A block has 4 KiB under way while it loads, and none while it computes.

#include <cstdint>

#include "common/check.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    plain_kernel(const Stencil<float> p, const March march) {
  __shared__ Row tile;
  const Part part(p, march);
  Sums sums;
  for (int64_t row = part.first - kRadius; row < part.last + kRadius; ++row) {
    Vector fetched{};
    if (part.inside && row >= 0 && row < p.rows) fetched = days::load16(p.in + row * p.cols + part.col);
    days::store16(tile[threadIdx.x].lane, fetched);
    __syncthreads();  // the row is there
    const Near near(tile);
    __syncthreads();  // and read: the next one may overwrite it
    sums.add(near);
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
    }
  }
}

}  // namespace

void stencil_plain(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "plain");
  days::require_needs(p, "plain", kWholeVectors);
  const March march = march_of(p, kStrip, "plain");
  plain_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
