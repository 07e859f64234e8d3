// SPDX-License-Identifier: MIT
// A stable compaction: places are not taken in the order in which blocks happen to come, but computed. Three
// kernels: each tile counts what it keeps; one block scans the counts; each tile reads its elements again and
// writes from its own place on. Bound by: memory, but x is read twice.
#include "common/check.h"
#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/kept.cuh"

namespace day62 {
namespace {

constexpr int kThreads = 256, kScanThreads = 1024;
using Tile = Kept<kThreads, 16>;

__global__ void __launch_bounds__(kThreads) count_kernel(const float* x,    // (n)
                                                         uint32_t* places,  // (tiles): what each keeps
                                                         int64_t n, float threshold) {
  const Tile tile(x, int64_t{blockIdx.x} * Tile::kTile, n, threshold);
  if (threadIdx.x == 0) places[blockIdx.x] = static_cast<uint32_t>(tile.total);
}

__global__ void __launch_bounds__(kScanThreads)
    scan_kernel(uint32_t* places,  // (tiles): counts, then first places
                uint32_t* count,   // (1)
                int64_t tiles) {
  uint32_t before = 0;
  for (int64_t first = 0; first < tiles; first += kScanThreads) {
    const int64_t tile = first + threadIdx.x;
    uint32_t total;
    const uint32_t place = days::block_exclusive_scan<kScanThreads>(tile < tiles ? places[tile] : 0, total);
    if (tile < tiles) places[tile] = before + place;
    before += total;
  }
  if (threadIdx.x == 0) *count = before;
}

__global__ void __launch_bounds__(kThreads) write_kernel(const float* x,          // (n)
                                                         float* y,                // (n)
                                                         const uint32_t* places,  // (tiles)
                                                         int64_t n, float threshold) {
  const Tile tile(x, int64_t{blockIdx.x} * Tile::kTile, n, threshold);
  tile.write(y, places[blockIdx.x]);
}

}  // namespace

size_t two_reads_workspace(const Compaction<float>& p) {
  return static_cast<size_t>(days::ceil_div(p.n, Tile::kTile)) * sizeof(uint32_t);
}

void compaction_two_reads(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "two_reads");
  days::require(p.workspace.bytes >= two_reads_workspace(p), "two_reads: needs a workspace of",
                two_reads_workspace(p), " bytes, not", p.workspace.bytes);
  const int64_t tiles = days::ceil_div(p.n, Tile::kTile);
  uint32_t* places = static_cast<uint32_t*>(p.workspace.data);
  count_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(p.x, places, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
  scan_kernel<<<1, kScanThreads, 0, stream>>>(places, p.count, tiles);
  CUDA_CHECK_LAUNCH();
  write_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(p.x, p.y, places, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
