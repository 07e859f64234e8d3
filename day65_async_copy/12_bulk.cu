// SPDX-License-Identifier: MIT
//
// One thread asks for a whole row: a piece of memory that is contiguous on both sides is one bulk copy, which the copy engine
// makes while no thread computes an address. It says how many bytes the stage's "full" barrier has to wait for. The thread belongs
// to a warp that does nothing else, so no computing warp ever waits for an empty stage; and a stage is three rows, so a warp
// waits and arrives once for three.
// Changed since pipeline: 1 instruction a row and block for 260. The engine copies bytes and knows no field: where the tile
// juts out of it, the copy is cut shorter, and zeros are written by threads.
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

constexpr int kStages = 4;

struct Stage {
  Row row[kRows];
};
using BulkRing = Ring<Stage, kStages, kThreads / days::kWarpSize>;

// The warp that asks for the rows of all stages, in turn.
__device__ void produce(BulkRing& ring, const Stencil<float>& p, const Part& part) {
  const int lane = static_cast<int>(threadIdx.x % days::kWarpSize);
  const int from = max(part.left, 0), to = min(part.left + kTile, p.cols);
  const uint32_t bytes = static_cast<uint32_t>(to - from) * sizeof(float);
  const int skipped = (from - part.left) / 4;  // vectors before the field's first column
  Turn<kStages> fill;
  int row = part.first - kRadius;
  for (int left = stages_of(part); left > 0; --left, row += kRows, fill.next()) {
    Row(&stage)[kRows] = ring.stage[fill.stage].row;
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
    const auto there = [&](int r) { return row + r >= 0 && row + r < p.rows; };
    uint32_t rows_there = 0;
    for (int r = 0; r < kRows; ++r) {
      if (there(r)) {
        ++rows_there;
      } else {  // above or below the field
        for (int v = lane; v < kVectors; v += days::kWarpSize) stage[r][v] = {};
        days::ptx::fence_proxy_async_shared();  // a later copy to this place comes after it
      }
    }
    __syncwarp();  // the zeros are there
    if (lane == 0) {
      days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], bytes * rows_there);
      for (int r = 0; r < kRows; ++r) {
        if (!there(r)) continue;
        days::ptx::cp_async_bulk(&stage[r][skipped], p.in + int64_t{row + r} * p.cols + from, bytes,
                                 &ring.full[fill.stage]);
      }
    }
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kThreads + days::kWarpSize)
    bulk_kernel(const Stencil<float> p, const March march) {
  extern __shared__ __align__(128) unsigned char memory[];
  BulkRing& ring = *reinterpret_cast<BulkRing*>(memory);
  const Part part(p, march);
  // The columns beside the field, which no copy ever writes.
  for (int v = static_cast<int>(threadIdx.x); v < kVectors; v += static_cast<int>(blockDim.x)) {
    const int col = part.left + 4 * v;
    if (col >= 0 && col < p.cols) continue;
    for (Stage& stage : ring.stage) {
      for (Row& row : stage.row) row[v] = {};
    }
  }
  ring.init();
  if (threadIdx.x >= kThreads) {
    produce(ring, p, part);
    return;
  }

  Turn<kStages> use;
  Sums<> sums;
  Target to(p, part);
  for (int left = stages_of(part); left > 0; left -= kSums / kRows) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      if (turn % kRows == 0) days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
      const Near near(&ring.stage[use.stage].row[turn % kRows][part.own]);
      if (turn % kRows == kRows - 1) {
        ring.release(use.stage);
        use.next();
      }
      sums.add(near, turn);
      to.store(p, part, sums.take(turn));
    }
  }
}

}  // namespace

void stencil_bulk(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "bulk");
  days::require_needs(p, "bulk", kWholeVectors);
  const March march = march_of(p, kStrip, "bulk");
  CUDA_CHECK(
      cudaFuncSetAttribute(bulk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(BulkRing)));
  bulk_kernel<<<static_cast<unsigned>(march.blocks), kThreads + days::kWarpSize, sizeof(BulkRing), stream>>>(
      p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
