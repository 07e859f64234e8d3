// SPDX-License-Identifier: MIT
// Four passes, one for each byte of the keys. A pass counts the byte in each tile, scans the counts, and then
// each key goes to its digit's start plus its rank among the tile's keys of that digit. A rank must follow the
// order of the keys, which no atomic counter of a block would do: so each warp has private counters and goes
// through its keys in order, 32 at a time, where __match_any_sync tells a lane which lanes have its digit.
// Bound by: stores. The 32 keys of a request go to up to 32 places.
// Teaches: __match_any_sync.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/digit_starts.cuh"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {
namespace {

__global__ void __launch_bounds__(kTileThreads) scatter_kernel(const uint32_t* in,      // (n)
                                                               uint32_t* out,           // (n)
                                                               const uint32_t* counts,  // (kDigits, tiles)
                                                               const uint32_t* totals,  // (kDigits)
                                                               int64_t n, int pass) {
  __shared__ uint32_t counters[kTileWarps][kDigits];
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  for (int w = 0; w < kTileWarps; ++w) counters[w][threadIdx.x] = 0;
  uint32_t keys[kTileItems], rank[kTileItems];
  load_tile(keys, in, blockIdx.x, n);
  __syncthreads();

  // Each key's rank among the keys of the warp with its digit.
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    const uint32_t digit = digit_of(keys[i], pass);
    const unsigned peers = __match_any_sync(days::kFullWarp, digit);  // the lanes with this digit
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    uint32_t before = 0;
    if (lane == leader) before = atomicAdd(&counters[warp][digit], static_cast<uint32_t>(__popc(peers)));
    before = __shfl_sync(days::kFullWarp, before, leader);
    rank[i] = before + __popc(peers & ((1u << lane) - 1));
  }
  __syncthreads();

  // A counter becomes where the warp's keys with that digit begin in `out`.
  uint32_t start = digit_start(counts, totals, gridDim.x);
  for (int w = 0; w < kTileWarps; ++w) {
    const uint32_t here = counters[w][threadIdx.x];
    counters[w][threadIdx.x] = start;
    start += here;
  }
  __syncthreads();

  const int64_t first = int64_t{blockIdx.x} * kTileKeys + warp * (kTileItems * days::kWarpSize) + lane;
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    if (first + i * days::kWarpSize < n) out[counters[warp][digit_of(keys[i], pass)] + rank[i]] = keys[i];
  }
}

}  // namespace

void radix_sort_scatter(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  require_problem(p, tiles_workspace(p), "scatter");
  const TileScratch s(p);
  const uint32_t* from = p.in;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* to = pass % 2 == 0 ? s.keys : p.out;
    launch_digit_starts(from, p.n, pass, s, stream);
    scatter_kernel<<<static_cast<unsigned>(s.tiles), kTileThreads, 0, stream>>>(from, to, s.counts, s.totals,
                                                                                p.n, pass);
    CUDA_CHECK_LAUNCH();
    from = to;
  }
}

}  // namespace day62
