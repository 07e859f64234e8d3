// SPDX-License-Identifier: MIT
//
// The copy engine is told the field's shape: a bulk tensor copy names a box by its first column and row, and what the box has
// outside of the field arrives as zeros.
// Changed since bulk: nothing is cut, no zeros are written, and no row is left out. A box has at most 256 columns, so a row of
// the tile is four boxes, and one barrier waits for all of them.
// Needs compute capability 9.0. Teaches: cp_async_bulk_tensor.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/tensor_map.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/ring.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 5;
constexpr int kBox = 256;  // columns; the most that a box can have

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    tensor_kernel(const __grid_constant__ CUtensorMap in_map, const Stencil<float> p, const March march) {
  __shared__ Ring<kStages> ring;
  const Part part(p, march);
  const int64_t begin = part.first - kRadius, end = part.last + kRadius;
  ring.init();

  Turn<kStages> fill, use;
  const auto fetch = [&](int64_t row) {  // called by one thread
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
    days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], sizeof(Row));
    for (int c = 0; c < kTile; c += kBox) {
      days::ptx::cp_async_bulk_tensor(&ring.stage[fill.stage][c / 4], &in_map,
                                      static_cast<int>(part.left + c), static_cast<int>(row),
                                      &ring.full[fill.stage]);
    }
    fill.next();
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages - 1; ++s) fetch(begin + s);
  }

  Sums sums;
  for (int64_t row = begin; row < end; ++row) {
    days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
    const Near near(ring.stage[use.stage]);
    ring.release(use.stage);
    use.next();
    if (threadIdx.x == 0 && row + kStages - 1 < end) fetch(row + kStages - 1);
    sums.add(near);
    const Vector done = sums.take();
    if (part.computes && row - kRadius >= part.first) {
      days::store16(p.out + (row - kRadius) * p.cols + part.col, done);
    }
  }
}

}  // namespace

void stencil_tensor(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "tensor");
  days::require_needs(p, "tensor", kWholeVectors, kBoxesWithin);
  const March march = march_of(p, kStrip, "tensor");
  const CUtensorMap in_map = days::tensor_map(p.in, p.rows, p.cols, 1, kBox, CU_TENSOR_MAP_SWIZZLE_NONE);
  tensor_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(in_map, p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
