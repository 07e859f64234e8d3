// SPDX-License-Identifier: MIT
//
// No barrier of the whole block: each stage has two mbarriers in shared memory, "full" and "empty", and a warp waits for the one
// whose news it needs. A warp that is early may start on the next row while another is still at this one.
// Changed since stages5: the copies themselves arrive at "full", and a warp that has read a row arrives at "empty".
// Teaches: mbarrier_init, mbarrier_wait, mbarrier_arrive, cp_async_mbarrier_arrive_noinc.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 5;

struct Ring {
  Row stage[kStages];
  uint64_t full[kStages], empty[kStages];
};
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

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    mbarrier_kernel(const Stencil<float> p, const March march) {
  __shared__ Ring ring;
  const Part part(p, march);
  const int64_t begin = part.first - kRadius, end = part.last + kRadius;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      days::ptx::mbarrier_init(&ring.full[s], kThreads);  // an arrival for each thread's copy
      days::ptx::mbarrier_init(&ring.empty[s],
                               kThreads / days::kWarpSize);  // and one for each warp that has read
    }
  }
  __syncthreads();  // nobody waits at a barrier that is not there yet

  Turn fill, use;
  const auto fetch = [&](int64_t row) {
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);  // in the first round: at once
    const bool there = part.inside && row >= 0 && row < p.rows;
    const float* from = there ? p.in + row * p.cols + part.col : p.in;
    days::ptx::cp_async_cg(&ring.stage[fill.stage][threadIdx.x], from, there ? 16 : 0);
    days::ptx::cp_async_mbarrier_arrive_noinc(&ring.full[fill.stage]);  // once the copy has landed
    fill.next();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s);

  Sums sums;
  for (int64_t row = begin; row < end; ++row) {
    days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
    const Near near(ring.stage[use.stage]);
    __syncwarp();
    if (threadIdx.x % days::kWarpSize == 0)
      days::ptx::mbarrier_arrive(&ring.empty[use.stage]);  // this warp has read it
    use.next();
    if (row + kStages - 1 < end) fetch(row + kStages - 1);
    sums.add(near);
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
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
