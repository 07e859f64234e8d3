// SPDX-License-Identifier: MIT
//
// Nine rows are one turn of a loop that is written out: then nobody moves the nine sums up after each row, because the code of
// the next row knows them by other names, and the stage of each row is a constant as well.
// Changed since stages9: the loop over rows goes by nine, and addresses go down with the march, where each row worked them out.
// A third of the instructions less, for more registers.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = kSums;

__global__ void __launch_bounds__(kThreads, 2) names_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages];
  const Part part(p, march);
  const int begin = part.first - kRadius;
  // Whole rounds: what comes behind the last row that is needed is added to sums that nobody stores.
  const int end = begin + days::ceil_div(part.last + kRadius - begin, kSums) * kSums;
  Source own(p, part, part.own), margin(p, part, part.margin);
  const auto copy = [&](Source& source, int stage, int vector) {
    const bool there = source.there(part);
    days::ptx::cp_async_cg(&ring[stage][vector], there ? source.at : p.in, there ? 16 : 0);
    source.next(p);
  };
  const auto fetch = [&](int stage) {
    copy(own, stage, part.own);
    if (part.has_margin()) copy(margin, stage, part.margin);
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(s);

  Sums<> sums;
  Target to(p, part);
  for (int round = begin; round < end; round += kSums) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      days::ptx::cp_async_wait_group<kStages - 2>();
      __syncthreads();
      fetch((turn + kStages - 1) % kStages);
      const Near near(&ring[turn][part.own]);
      sums.add(near, turn);
      to.store(p, part, sums.take(turn));
    }
  }
  days::ptx::cp_async_wait_all();  // of rows behind the last: zeros
}

}  // namespace

void stencil_names(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "names");
  days::require_needs(p, "names", kWholeVectors);
  const March march = march_of(p, kStrip, "names");
  names_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
