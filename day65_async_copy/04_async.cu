// SPDX-License-Identifier: MIT
//
// async: ask for the next row and let it go straight to shared memory. cp.async copies 16 bytes past the registers and does not
// hold its thread up; a group of them is waited for a step later. Two stages: one row is computed, one is under way.
// Changed since prefetch: no register waits for a row, and no instruction stores it. Teaches: cp_async_cg,
// cp_async_commit_group, cp_async_wait_group.
// Bound by: bytes in flight, 4 KiB a block.
//
// stages3: ask two rows ahead. Changed since async: a ring of three stages; 8 KiB a block under way.
//
// stages4: ask three rows ahead. Changed since stages3: a ring of four stages; 12 KiB a block under way.
//
// stages5: ask four rows ahead. Changed since stages4: a ring of five stages; 16 KiB a block under way. One block has
// more than the 9.5 KiB that a multiprocessor of an H200 needs. Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

template <int kStages>
__global__ void __launch_bounds__(kThreads, kMostBlocks)
    async_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages];
  const Part part(p, march);
  const int64_t begin = part.first - kRadius, end = part.last + kRadius;
  // Starts the copy of this thread's part of a row. What is outside of the field becomes zeros: 0 bytes are read for it. The
  // group is committed in any case, so that the newest kStages - 1 groups are always the newest kStages - 1 rows.
  const auto fetch = [&](int64_t row, int stage) {
    if (row < end) {
      const bool there = part.inside && row >= 0 && row < p.rows;
      const float* from = there ? p.in + row * p.cols + part.col : p.in;
      days::ptx::cp_async_cg(&ring[stage][threadIdx.x], from, there ? 16 : 0);
    }
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s, s);

  Sums sums;
  int now = 0, free = kStages - 1;  // the stage of this row, and the one that is filled next
  for (int64_t row = begin; row < end; ++row) {
    days::ptx::cp_async_wait_group<kStages - 2>();  // this thread's part of the row is there
    __syncthreads();                                // everybody's is, and all are done with the row before
    fetch(row + kStages - 1, free);                 // which lay in this stage
    const Near near(ring[now]);
    sums.add(near);
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
    }
    free = now;
    now = now + 1 == kStages ? 0 : now + 1;
  }
}

template <int kStages>
void launch(const Stencil<float>& p, const char* variant, cudaStream_t stream) {
  require_problem(p, variant);
  days::require_needs(p, variant, kWholeVectors);
  const March march = march_of(p, kStrip, variant);
  async_kernel<kStages><<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void stencil_async(const Stencil<float>& p, cudaStream_t stream) {
  launch<2>(p, "async", stream);
}
void stencil_stages3(const Stencil<float>& p, cudaStream_t stream) {
  launch<3>(p, "stages3", stream);
}
void stencil_stages4(const Stencil<float>& p, cudaStream_t stream) {
  launch<4>(p, "stages4", stream);
}
void stencil_stages5(const Stencil<float>& p, cudaStream_t stream) {
  launch<5>(p, "stages5", stream);
}

}  // namespace day65
