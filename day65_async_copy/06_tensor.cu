// SPDX-License-Identifier: MIT
//
// The copy engine is told the field's shape: a bulk tensor copy names a box by its first column and row, and what the box has
// outside of the field arrives as zeros. It says how many bytes the stage's "full" barrier has to wait for. The lanes that ask belong
// to a warp that does nothing else, so no computing warp ever waits for an empty stage; and a stage is three rows, so a warp waits
// and arrives once for three.
// Changed since mbarrier: no thread works out where a vector lies. A box has at most 256 columns, so a stage is five boxes of 208
// columns and three rows, which five lanes ask for, and one barrier waits for all of them.
// Needs compute capability 9.0. Teaches: cp_async_bulk_tensor, mbarrier_arrive_expect_tx.
// Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/ring.cuh"
#include "common/tensor_map.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 4;
constexpr int kBoxes = 5, kBox = kTile / kBoxes;  // columns
static_assert(kBox * kBoxes == kTile && kBox <= 256 && kBox % 4 == 0);

struct alignas(128) Box {
  Vector row[kRows][kBox / 4];
};
struct Stage {
  Box box[kBoxes];
};
using days::Turn;
using TensorRing = days::Ring<Stage, kStages, kThreads / days::kWarpSize>;

// The warp that asks for the boxes of all stages, in turn.
__device__ void produce(TensorRing& ring, const CUtensorMap& in_map, const Part& part) {
  const int lane = static_cast<int>(threadIdx.x % days::kWarpSize);
  Turn<kStages> fill;
  int row = part.first - kRadius;
  for (int left = stages_of(part); left > 0; --left, row += kRows, fill.next()) {
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
    if (lane == 0) days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], sizeof(Row) * kRows);
    __syncwarp();
    if (lane < kBoxes) {
      days::ptx::cp_async_bulk_tensor(&ring.stage[fill.stage].box[lane], &in_map, part.left + lane * kBox,
                                      row, &ring.full[fill.stage]);
    }
    __syncwarp();
  }
}

// A thread's values may lie in two boxes.
struct Place {
  int box, vector;
  __device__ explicit Place(int v) : box(v / (kBox / 4)), vector(v % (kBox / 4)) {}
  __device__ const Vector& in(const Stage& stage, int row) const { return stage.box[box].row[row][vector]; }
};
struct BoxNear {
  Vector left, middle, right;
  __device__ float operator[](int i) const { return i < 4 ? left[i] : i < 8 ? middle[i - 4] : right[i - 8]; }
};

__global__ void __launch_bounds__(kThreads + days::kWarpSize)
    tensor_kernel(const __grid_constant__ CUtensorMap in_map, const Stencil<float> p, const March march) {
  extern __shared__ __align__(128) unsigned char memory[];
  TensorRing& ring = *reinterpret_cast<TensorRing*>(memory);
  const Part part(p, march);
  ring.init();
  if (threadIdx.x >= kThreads) {
    produce(ring, in_map, part);
    return;
  }

  const Place left(part.own - 1), middle(part.own), right(part.own + 1);
  Turn<kStages> use;
  Sums<> sums;
  Target to(p, part);
  for (int stages = stages_of(part); stages > 0; stages -= kSums / kRows) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn) {
      if (turn % kRows == 0) days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
      const Stage& stage = ring.stage[use.stage];
      const BoxNear near{left.in(stage, turn % kRows), middle.in(stage, turn % kRows),
                         right.in(stage, turn % kRows)};
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

void stencil_tensor(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "tensor");
  days::require_needs(p, "tensor", kWholeVectors);
  const March march = march_of(p, kStrip, "tensor");
  const CUtensorMap in_map = days::tensor_map(p.in, p.rows, p.cols, kRows, kBox, CU_TENSOR_MAP_SWIZZLE_NONE);
  CUDA_CHECK(
      cudaFuncSetAttribute(tensor_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(TensorRing)));
  tensor_kernel<<<static_cast<unsigned>(march.blocks), kThreads + days::kWarpSize, sizeof(TensorRing),
                  stream>>>(in_map, p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
