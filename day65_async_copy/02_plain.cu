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
  const auto fetch = [&](int row, int vector) {
    Vector fetched{};  // zeros outside of the field
    if (part.has(p, row, vector)) fetched = days::load16(part.find(p, row, vector));
    return fetched;
  };
  Sums<> sums;
  for (int row = part.first - kRadius; row < part.last + kRadius; ++row) {
    days::store16(tile[part.own].lane, fetch(row, part.own));
    if (part.has_margin()) days::store16(tile[part.margin].lane, fetch(row, part.margin));
    __syncthreads();  // the row is there
    const Near near(&tile[part.own]);
    __syncthreads();  // and read: the next one may overwrite it
    sums.add(near);
    part.store(p, row - kRadius, sums.take());
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
