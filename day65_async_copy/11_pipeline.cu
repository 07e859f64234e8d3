// SPDX-License-Identifier: MIT
//
// The same ring from the C++ library: cuda::pipeline keeps the two barriers of each stage and whose turn it is.
// Changed since mbarrier: four calls in place of all barriers. Each thread arrives for itself, where a warp did; and no copy writes
// zeros, so the thread writes those itself.
// Teaches: cuda::make_pipeline, cuda::memcpy_async.
// Bound by: the memory.

#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/pipeline>

#include "common/check.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = kSums;
using State = cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>;

__global__ void __launch_bounds__(kThreads, 2) pipeline_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages];
  __shared__ __align__(
      alignof(State)) unsigned char state[sizeof(State)];  // its constructor has no place here
  const Part part(p, march);
  const int begin = part.first - kRadius;
  const int end = begin + days::ceil_div(part.last + kRadius - begin, kSums) * kSums;
  auto pipeline =
      cuda::make_pipeline(cooperative_groups::this_thread_block(), reinterpret_cast<State*>(state));

  Source own(p, part, part.own), margin(p, part, part.margin);
  const auto copy = [&](Source& source, Vector& to) {
    if (source.there(part)) {
      cuda::memcpy_async(&to, source.at, cuda::aligned_size_t<16>(16), pipeline);
    } else {
      to = {};
    }
    source.next(p);
  };
  const auto fetch = [&](int stage) {
    pipeline.producer_acquire();  // waits until the stage is empty
    copy(own, ring[stage][part.own]);
    if (part.has_margin()) copy(margin, ring[stage][part.margin]);
    pipeline.producer_commit();  // it is full once this thread's copies have landed, and all others'
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(s);

  Sums<> sums;
  Target to(p, part);
  for (int round = begin; round < end; round += kSums) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      pipeline.consumer_wait();  // until the oldest stage is full
      const Near near(&ring[turn][part.own]);
      pipeline.consumer_release();  // this thread has read it
      sums.add(near, turn);
      to.store(p, part, sums.take(turn));
      if (round + turn + kStages - 1 < end) fetch((turn + kStages - 1) % kStages);
    }
  }
}

}  // namespace

void stencil_pipeline(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "pipeline");
  days::require_needs(p, "pipeline", kWholeVectors);
  const March march = march_of(p, kStrip, "pipeline");
  pipeline_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
