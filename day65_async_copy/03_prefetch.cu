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
  const auto fetch = [&](int64_t row) {
    Vector fetched{};
    if (part.inside && row >= 0 && row < p.rows) fetched = days::load16(p.in + row * p.cols + part.col);
    return fetched;
  };
  Sums sums;
  Vector fetched = fetch(part.first - kRadius);
  int now = 0;
  for (int64_t row = part.first - kRadius; row < part.last + kRadius; ++row, now ^= 1) {
    days::store16(tiles[now][threadIdx.x].lane, fetched);  // this is where the thread waits for it
    __syncthreads();           // the row is there, and all are done with the one before
    fetched = fetch(row + 1);  // a load waits for nothing until its value is used
    const Near near(tiles[now]);
    sums.add(near);
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
    }
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
