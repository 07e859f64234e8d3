// SPDX-License-Identifier: MIT
//
// Nine rows are one turn of a loop that is written out: then nobody moves the nine sums up after each row, because the code of
// the next row knows them by other names, and the stage of each row is a constant as well.
// Changed since stages9: the loop over rows goes by nine; 36 instructions a row and thread less, for more registers.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = kSums;

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    names_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages];
  const Part part(p, march);
  const int begin = part.first - kRadius;
  // Whole rounds: what comes behind the last row that is needed is added to sums that nobody stores.
  const int end = begin + days::ceil_div(part.last + kRadius - begin, kSums) * kSums;
  const auto copy = [&](int row, int stage, int vector) {
    const bool there = part.has(p, row, vector);
    const float* from = there ? part.find(p, row, vector) : p.in;
    days::ptx::cp_async_cg(&ring[stage][vector], from, there ? 16 : 0);
  };
  const auto fetch = [&](int row, int stage) {
    if (row < end) {
      copy(row, stage, part.own);
      if (part.has_margin()) copy(row, stage, part.margin);
    }
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s, s);

  Sums<> sums;
  for (int round = begin; round < end; round += kSums) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      const int row = round + turn;
      days::ptx::cp_async_wait_group<kStages - 2>();
      __syncthreads();
      fetch(row + kStages - 1, (turn + kStages - 1) % kStages);
      const Near near(&ring[turn][part.own]);
      sums.add(near, turn);
      part.store(p, row - kRadius, sums.take(turn));
    }
  }
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
