// SPDX-License-Identifier: MIT
//
// Exercise: plain, with three rows under way while it computes with a fourth.
// Gates: every element right for every shape; no race; at most 1.3 bytes loaded for each byte of in; and at
// least 12,000 bytes of copies under way when a block waits for them (plain: none).
//   ./days check 65      tells how far you are        ./days hint 65      when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 4;

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    exercise_kernel(const Stencil<float> p, const March march) {
  __shared__ Row ring[kStages] __attribute__((unused));  // a row's tile each, with margins; unused as yet
  const Part part(p, march);  // which rows and columns are this block's and this thread's
  // 1. Ask for the first three rows, from part.first - kRadius on. Each is a group of copies of its own;
  //    threads 0 to 3 copy a part of the margins as well.
  // 2. For each row: how many younger groups may still be under way when you need it? Who else has copied a part of it?
  // 3. Which stage is free now, and who has read it? Ask for the row three further on, into that stage.
  // 4. Then compute: Near near(&ring[...][part.own]); sums.add(near); part.store(...), as plain does.
  // your code
}

}  // namespace

void exercise(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  days::require_needs(p, "exercise", kWholeVectors);
  const March march = march_of(p, kStrip, "exercise");
  exercise_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
