// SPDX-License-Identifier: MIT
//
// stages4: ask three rows ahead and let them go straight to shared memory. cp.async copies 16 bytes past the registers and does not
// hold its thread up; a group of them is waited for three steps later. Four stages: one row is computed, three are under way.
// Changed since prefetch: no register waits for a row, and no instruction stores it; 12 KiB a block under way. Teaches: cp_async_cg,
// cp_async_commit_group, cp_async_wait_group.
// Bound by: bytes in flight with one block a multiprocessor, the memory from two on.
//
// stages9: ask eight rows ahead. Changed since stages4: a ring of nine stages; 32 KiB a block under way.
// Bound by: the memory, from one block a multiprocessor on.

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
  const int begin = part.first - kRadius, end = part.last + kRadius;
  // Starts the copy of one vector of a row. What is outside of the field becomes zeros: 0 bytes are read for it.
  const auto copy = [&](int row, int stage, int vector) {
    const bool there = part.has(p, row, vector);
    const float* from = there ? part.find(p, row, vector) : p.in;
    days::ptx::cp_async_cg(&ring[stage][vector], from, there ? 16 : 0);
  };
  // Starts this thread's copies of a row. The group is committed in any case, so that the newest kStages - 1 groups are always the
  // newest kStages - 1 rows.
  const auto fetch = [&](int row, int stage) {
    if (row < end) {
      copy(row, stage, part.own);
      if (part.has_margin()) copy(row, stage, part.margin);
    }
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s, s);

  Sums<> sums;
  int now = 0, free = kStages - 1;  // the stage of this row, and the one that is filled next
  for (int row = begin; row < end; ++row) {
    days::ptx::cp_async_wait_group<kStages - 2>();  // this thread's part of the row is there
    __syncthreads();                                // everybody's is, and all are done with the row before
    fetch(row + kStages - 1, free);                 // which lay in this stage
    const Near near(&ring[now][part.own]);
    sums.add(near);
    part.store(p, row - kRadius, sums.take());
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

void stencil_stages4(const Stencil<float>& p, cudaStream_t stream) {
  launch<4>(p, "stages4", stream);
}
void stencil_stages9(const Stencil<float>& p, cudaStream_t stream) {
  launch<9>(p, "stages9", stream);
}

}  // namespace day65
