// SPDX-License-Identifier: MIT
//
// Ask early, into registers: a thread starts to load its part of the next row before it computes with this one, and puts it
// into shared memory a step later. That needs no instruction that a T4 lacks.
// Changed since plain: the load stands before the computation, and two tiles take turns, so one barrier a row is enough.
// Bound by: bytes in flight, 4 KiB a block still, but now while it computes as well.

#include <cstdint>

#include "common/check.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    prefetch_kernel(const Stencil<float> p, const March march) {
  __shared__ Row tiles[2];
  const Part part(p, march);
  const auto fetch = [&](int row, int vector) {
    Vector fetched{};
    if (part.has(p, row, vector)) fetched = days::load16(part.find(p, row, vector));
    return fetched;
  };
  Sums<> sums;
  const int begin = part.first - kRadius;
  Vector own = fetch(begin, part.own), margin = part.has_margin() ? fetch(begin, part.margin) : Vector{};
  int now = 0;
  for (int row = begin; row < part.last + kRadius; ++row, now ^= 1) {
    days::store16(tiles[now][part.own].lane, own);  // this is where the thread waits for it
    if (part.has_margin()) days::store16(tiles[now][part.margin].lane, margin);
    __syncthreads();                 // the row is there, and all are done with the one before
    own = fetch(row + 1, part.own);  // a load waits for nothing until its value is used
    if (part.has_margin()) margin = fetch(row + 1, part.margin);
    const Near near(&tiles[now][part.own]);
    sums.add(near);
    part.store(p, row - kRadius, sums.take());
  }
}

}  // namespace

void stencil_prefetch(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "prefetch");
  days::require_needs(p, "prefetch", kWholeVectors);
  const March march = march_of(p, kStrip, "prefetch");
  prefetch_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
