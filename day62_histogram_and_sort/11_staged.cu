// SPDX-License-Identifier: MIT
// A tile is first sorted by the digit within shared memory, and then written from there. Since scatter:
// neighbouring threads hold neighbouring keys of one digit, which go to neighbouring places, 16 keys or 64
// bytes at a time for random keys. Bound by: not memory, which three times n keys a pass keep busy for a
// quarter of the time. __match_any_sync is the suspect.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/digit_starts.cuh"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {
namespace {

struct Shared {
  uint32_t counters[kTileWarps][kDigits];
  uint32_t shift[kDigits];  // from a place in the sorted tile to that in `out`, modulo 2^32
  uint32_t keys[kTileKeys];
};

__global__ void __launch_bounds__(kTileThreads) staged_kernel(const uint32_t* in,      // (n)
                                                              uint32_t* out,           // (n)
                                                              const uint32_t* counts,  // (kDigits, tiles)
                                                              const uint32_t* totals,  // (kDigits)
                                                              int64_t n, int pass) {
  __shared__ Shared s;
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  for (int w = 0; w < kTileWarps; ++w) s.counters[w][threadIdx.x] = 0;
  uint32_t keys[kTileItems], rank[kTileItems];
  load_tile(keys, in, blockIdx.x, n);
  __syncthreads();

  // As in scatter: each key's rank among the keys of the warp with its digit.
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    const uint32_t digit = digit_of(keys[i], pass);
    const unsigned peers = __match_any_sync(days::kFullWarp, digit);
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    uint32_t before = 0;
    if (lane == leader) before = atomicAdd(&s.counters[warp][digit], static_cast<uint32_t>(__popc(peers)));
    before = __shfl_sync(days::kFullWarp, before, leader);
    rank[i] = before + __popc(peers & ((1u << lane) - 1));
  }
  __syncthreads();

  // A counter becomes where the warp's keys with that digit begin in the sorted tile.
  uint32_t in_tile = 0, all;
  for (int w = 0; w < kTileWarps; ++w) in_tile += s.counters[w][threadIdx.x];
  uint32_t place = days::block_exclusive_scan<kTileThreads>(in_tile, all);
  s.shift[threadIdx.x] = digit_start(counts, totals, gridDim.x) - place;
  for (int w = 0; w < kTileWarps; ++w) {
    const uint32_t here = s.counters[w][threadIdx.x];
    s.counters[w][threadIdx.x] = place;
    place += here;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    s.keys[s.counters[warp][digit_of(keys[i], pass)] + rank[i]] = keys[i];
  }
  __syncthreads();

  const int64_t left = n - int64_t{blockIdx.x} * kTileKeys;  // keys from here to the end
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    const uint32_t place_in_tile = i * kTileThreads + threadIdx.x, key = s.keys[place_in_tile];
    if (place_in_tile < left) out[s.shift[digit_of(key, pass)] + place_in_tile] = key;
  }
}

}  // namespace

void radix_sort_staged(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  require_problem(p, tiles_workspace(p), "staged");
  const TileScratch s(p);
  const uint32_t* from = p.in;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* to = pass % 2 == 0 ? s.keys : p.out;
    launch_digit_starts(from, p.n, pass, s, stream);
    staged_kernel<<<static_cast<unsigned>(s.tiles), kTileThreads, 0, stream>>>(from, to, s.counts, s.totals,
                                                                               p.n, pass);
    CUDA_CHECK_LAUNCH();
    from = to;
  }
}

}  // namespace day62
