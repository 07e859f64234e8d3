// SPDX-License-Identifier: MIT
// One thread asks for the places of its whole block, which keeps a tile of 4,096 elements in registers. The
// warps' numbers are scanned in shared memory, so that each knows where in the block's places its own begin.
// Since one_warp: one atomic addition for a tile, and 16 loads of a thread under way at once. Bound by: memory,
// x once and the kept elements once.
#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/kept.cuh"

namespace day62 {
namespace {

constexpr int kThreads = 256;
using Tile = Kept<kThreads, 16>;

__global__ void __launch_bounds__(kThreads) one_block_kernel(const float* x,   // (n)
                                                             float* y,         // (n)
                                                             uint32_t* count,  // (1), 0 before
                                                             int64_t n, float threshold) {
  __shared__ uint32_t first;
  const Tile tile(x, int64_t{blockIdx.x} * Tile::kTile, n, threshold);
  if (threadIdx.x == 0) first = atomicAdd(count, static_cast<uint32_t>(tile.total));
  __syncthreads();
  tile.write(y, first);
}

}  // namespace

void compaction_one_block(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "one_block");
  const int64_t blocks = days::ceil_div(p.n, Tile::kTile);
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof(uint32_t), stream));
  one_block_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n,
                                                                           p.threshold);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
