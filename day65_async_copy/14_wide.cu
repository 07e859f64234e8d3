// SPDX-License-Identifier: MIT
//
// wide: eight columns a thread, half as many threads. A thread reads four vectors of a row for its eight columns, where two threads
// read six, but neighbouring lanes are now 32 bytes apart, so two of eight meet in each bank.
// Changed since tensor: 5 warps a block for 9. The field is a tensor of lines: 32 columns, cols / 32 lines, rows, and one box is
// a row of the tile, 34 lines of 128 bytes. Bound by: the memory with one block a multiprocessor; with more, not known.
//
// swizzle: the copy engine puts vector v of a line into place v ^ (line % 8), and threads look for it there. Changed since wide:
// no lanes meet in a bank that read their own columns; those that read neighbours' still do. Teaches: CU_TENSOR_MAP_SWIZZLE_128B.
// Both need compute capability 9.0 and whole lines. Bound by: what binds wide.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/tensor_map.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/ring.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

constexpr int kStages = 4;
constexpr int kWideThreads = kThreads / 2;                    // that compute
constexpr int kLine = 32;                                     // columns
constexpr int kLines = kStrip / kLine + 2, kLineVectors = 8;  // a line on each side is the margin

// The swizzle goes by bits of the address: the line's number is right where each stage begins at a multiple of 1,024 bytes.
struct alignas(1024) Stage {
  Vector vector[kRows][kLines * kLineVectors];
};
using WideRing = Ring<Stage, kStages, kWideThreads / days::kWarpSize>;

// Where vector v of a row lies.
template <bool kSwizzled>
__device__ int place(int row, int v) {
  return kSwizzled ? v ^ ((row * kLines + v / kLineVectors) % 8) : v;
}
// The sixteen values that a thread's eight columns depend on.
struct WideNear {
  Vector part[4];
  __device__ float operator[](int i) const { return part[i / 4][i % 4]; }
};

template <bool kSwizzled>
__global__ void __launch_bounds__(kWideThreads + days::kWarpSize, kMostBlocks)
    wide_kernel(const __grid_constant__ CUtensorMap in_map, const Stencil<float> p, const March march) {
  extern __shared__ __align__(1024) unsigned char memory[];
  WideRing& ring = *reinterpret_cast<WideRing*>(memory);
  const Part part(p, march);
  const int strip_line = (part.left + kMargin) / kLine;  // where the strip begins
  ring.init();
  if (threadIdx.x >= kWideThreads) {
    const int lane = static_cast<int>(threadIdx.x % days::kWarpSize);
    Turn<kStages> fill;
    int row = part.first - kRadius;
    for (int left = stages_of(part); left > 0; --left, row += kRows, fill.next()) {
      Stage& stage = ring.stage[fill.stage];
      days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
      if (lane == 0) days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], sizeof stage.vector);
      __syncwarp();
      if (lane < kRows) {
        days::ptx::cp_async_bulk_tensor(&stage.vector[lane], &in_map, 0, strip_line - 1, row + lane,
                                        &ring.full[fill.stage]);
      }
      __syncwarp();
    }
    return;
  }

  const int thread = static_cast<int>(threadIdx.x), own = kLineVectors + 2 * thread;
  const int col = strip_line * kLine + 8 * thread;  // lines are whole, so all eight are of the field or none
  Turn<kStages> use;
  Sums<2> sums;
  int row = part.first - kRadius;
  for (int left = stages_of(part); left > 0; left -= kSums / kRows) {
#pragma unroll
    for (int turn = 0; turn < kSums; ++turn, ++row) {
      if (turn % kRows == 0) days::ptx::mbarrier_wait(&ring.full[use.stage], use.phase);
      const auto& vectors = ring.stage[use.stage].vector[turn % kRows];
      WideNear near;
#pragma unroll
      for (int i = 0; i < 4; ++i) near.part[i] = vectors[place<kSwizzled>(turn % kRows, own - 1 + i)];
      if (turn % kRows == kRows - 1) {
        ring.release(use.stage);
        use.next();
      }
      sums.add(near, turn);
      const Vector done[] = {sums.take(turn, 0), sums.take(turn, 1)};
      const int to = row - kRadius;
      if (col < p.cols && to >= part.first && to < part.last) {
        days::store16(p.out + int64_t{to} * p.cols + col, done[0]);
        days::store16(p.out + int64_t{to} * p.cols + col + 4, done[1]);
      }
    }
  }
}

template <bool kSwizzled>
void launch(const Stencil<float>& p, const char* variant, cudaStream_t stream) {
  require_problem(p, variant);
  days::require_needs(p, variant, kWholeLines);
  const March march = march_of(p, kStrip, variant);
  const CUtensorMap in_map =
      days::tensor_map_of_lines(p.in, p.rows, p.cols, kLine, kLines,
                                kSwizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE);
  const auto kernel = wide_kernel<kSwizzled>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(WideRing)));
  kernel<<<static_cast<unsigned>(march.blocks), kWideThreads + days::kWarpSize, sizeof(WideRing), stream>>>(
      in_map, p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void stencil_wide(const Stencil<float>& p, cudaStream_t stream) {
  launch<false>(p, "wide", stream);
}
void stencil_swizzle(const Stencil<float>& p, cudaStream_t stream) {
  launch<true>(p, "swizzle", stream);
}

}  // namespace day65
