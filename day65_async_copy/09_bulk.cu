// SPDX-License-Identifier: MIT
//
// One thread asks for a whole row: a piece of memory that is contiguous on both sides is one bulk copy, which the copy engine
// makes while no thread computes an address. It says how many bytes the stage's "full" barrier has to wait for.
// Changed since mbarrier: 1 instruction a row and block for 256. The engine copies bytes and knows no field: where the tile
// juts out of it, the copy is cut shorter, and the threads have written zeros there once, before the march.
// Needs compute capability 9.0. Teaches: cp_async_bulk, mbarrier_arrive_expect_tx.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/ring.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 5;

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    bulk_kernel(const Stencil<float> p, const March march) {
  __shared__ Ring<kStages> ring;
  const Part part(p, march);
  // The rows of the field alone, and of each the columns of the field.
  const int64_t begin = max(part.first - kRadius, int64_t{0}),
                end = min(part.last + kRadius, int64_t{p.rows});
  const int64_t from = max(part.left, int64_t{0}), to = min(part.left + kTile, int64_t{p.cols});
  const uint32_t bytes = static_cast<uint32_t>(to - from) * sizeof(float);
  const int skipped = static_cast<int>(from - part.left) / 4;  // vectors before the field's first column
  if (!part.inside) {
    for (Row& row : ring.stage) days::store16(row[threadIdx.x].lane, Vector{});
  }
  ring.init();

  Turn<kStages> fill, use;
  const auto fetch = [&](int64_t row) {  // called by one thread
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
    days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], bytes);
    days::ptx::cp_async_bulk(&ring.stage[fill.stage][skipped], p.in + row * p.cols + from, bytes,
                             &ring.full[fill.stage]);
    fill.next();
  };
  if (threadIdx.x == 0) {
    for (int64_t row = begin; row < min(begin + kStages - 1, end); ++row) fetch(row);
  }

  Sums sums;
  for (int64_t row = begin; row < part.last + kRadius; ++row) {
    if (row < end) {
      days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
      const Near near(ring.stage[use.stage]);
      ring.release(use.stage);
      use.next();
      if (threadIdx.x == 0 && row + kStages - 1 < end) fetch(row + kStages - 1);
      sums.add(near);
    }
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
    }
  }
}

}  // namespace

void stencil_bulk(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "bulk");
  days::require_needs(p, "bulk", kWholeVectors);
  const March march = march_of(p, kStrip, "bulk");
  bulk_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
