// SPDX-License-Identifier: MIT
//
// No barrier of the whole block: each stage has two mbarriers in shared memory, "full" and "empty", and a warp waits for the one
// whose news it needs. A warp that is early may start on the next row while another is still at this one.
// Changed since stages9: the copies themselves arrive at "full", and a warp that has read a row arrives at "empty". Nine rows are
// written out, after which each of the nine sums is in its old place: none moves, the code calls it by another name.
// Teaches: mbarrier_init, mbarrier_wait, mbarrier_arrive, cp_async_mbarrier_arrive_noinc.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = kSums;

// Whose turn it is in the ring: the stage, and the phase bit of its barriers, which flips with each round.
struct Turn {
  int stage = 0;
  uint32_t phase = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

__global__ void __launch_bounds__(kThreads, 2) mbarrier_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages];
  __shared__ uint64_t full[kStages], empty[kStages];
  const Part part(p, march);
  const int begin = part.first - kRadius;
  const int end = begin + days::ceil_div(part.last + kRadius - begin, kSums) * kSums;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      days::ptx::mbarrier_init(&full[s], kThreads);                     // an arrival for each thread's copies
      days::ptx::mbarrier_init(&empty[s], kThreads / days::kWarpSize);  // one for each warp that has read
    }
  }
  __syncthreads();  // nobody waits at a barrier that is not there yet

  Turn fill, use;
  Source own(p, part, part.own), margin(p, part, part.margin);
  const auto copy = [&](Source& source, int vector) {
    const bool there = source.there(part);
    days::ptx::cp_async_cg(&ring[fill.stage][vector], there ? source.at : p.in, there ? 16 : 0);
    source.next(p);
  };
  const auto fetch = [&] {
    days::ptx::mbarrier_wait(&empty[fill.stage], fill.phase ^ 1);  // in the first round: at once
    copy(own, part.own);
    if (part.has_margin()) copy(margin, part.margin);
    days::ptx::cp_async_mbarrier_arrive_noinc(&full[fill.stage]);  // once the copies have landed
    fill.next();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch();

  Sums<> sums;
  Target to(p, part);
  for (int round = begin; round < end; round += kSums) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      days::ptx::mbarrier_wait(&full[use.stage], use.phase);
      const Near near(&ring[use.stage][part.own]);
      __syncwarp();
      if (threadIdx.x % days::kWarpSize == 0)
        days::ptx::mbarrier_arrive(&empty[use.stage]);  // this warp has read it
      use.next();
      sums.add(near, turn);
      to.store(p, part, sums.take(turn));
      if (round + turn + kStages - 1 < end) fetch();
    }
  }
}

}  // namespace

void stencil_mbarrier(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "mbarrier");
  days::require_needs(p, "mbarrier", kWholeVectors);
  const March march = march_of(p, kStrip, "mbarrier");
  mbarrier_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
