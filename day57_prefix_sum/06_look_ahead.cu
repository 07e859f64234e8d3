// SPDX-License-Identifier: MIT
// No chain: blocks stay and take tile after tile, and each keeps what all tiles before its last one add up to. For its next tile it
// adds what the tiles in between have published, one word each, their own sums. Nobody waits for a sum that somebody else had to
// wait for. Warps have tasks: one fetches tiles by bulk copies, one publishes and looks, the others add up tile i + kAhead, whose
// sum is thus known kAhead - 1 tiles before it is needed, and scan tile i, whose elements are still in shared memory.
// The words are added up in double, 32 by 32 from multiples of 32 on: always the same tree, so the bits do not depend on who came
// first. Needs compute capability 9.0. Teaches: cp_async_bulk, ld_relaxed_gpu.
// Changed since one_word: bytes under way while a block waits. Bound by: memory.
#include <algorithm>

#include "common/check.h"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day57_prefix_sum/prefix_sum.h"
#include "day57_prefix_sum/tile.cuh"
#include "day57_prefix_sum/word.cuh"

namespace day57 {
namespace {

constexpr int kStages = 6, kAhead = 3;
constexpr int kResident = 2;                         // blocks of a multiprocessor
constexpr int kGroup = 32;                           // tiles whose sums are one tree
constexpr int kBatch = 4;                            // groups whose words are under way at once
constexpr int kLooker = kThreads / days::kWarpSize;  // the warp that looks; the next one fetches
constexpr int kBlock = kThreads + 2 * days::kWarpSize;
// The number of a tile that is fetched in one turn is read two turns later at the earliest, so a barrier is between.
static_assert(kAhead >= 2 && kStages >= kAhead + 2);

template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint32_t, double>;

template <class T>
struct Stage {
  alignas(128) T elements[kTile<T>];
};
template <class T>
struct Shared {
  Stage<T> stage[kStages];
  uint64_t full[kStages];
  // Of the tile in each stage: its number, -1: none is left; what its warps add up to; what is before it.
  int64_t number[kStages];
  Total<T> of_warps[kStages][kWarps];
  Wide<T> before[kStages];
};

// Of the tile that a block has as its i-th.
__device__ inline int stage_of(int i) {
  return i % kStages;
}
__device__ inline uint32_t phase_of(int i) {
  return static_cast<uint32_t>(i / kStages % 2);
}

// A block's sum of all tiles before a multiple of kGroup, which only grows. For one warp.
template <class T>
struct Prefix {
  int64_t groups = 0;
  Wide<T> sum = 0;

  // What the tiles before `tile` add up to, in every lane.
  __device__ Wide<T> up_to(const Word* words, int64_t tile) {
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
    const int64_t whole = tile / kGroup;
    // The group of the tile itself counts as one: of its words those before the tile.
    for (;; groups += kBatch) {
      Word word[kBatch];
      bool wait;
      do {
        wait = false;
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
          const int64_t other = (groups + b) * kGroup + lane;
          word[b] = other < tile ? days::ptx::ld_relaxed_gpu(&words[other]) : kOwn;
          wait |= word[b] == 0;
        }
      } while (__any_sync(days::kFullWarp, wait));
      Wide<T> of_group[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b)
        of_group[b] = days::warp_reduce(static_cast<Wide<T>>(sum_in<Total<T>>(word[b])), days::Sum{});
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (groups + b == whole) {
          const Wide<T> result = sum + of_group[b];
          groups = whole;
          return result;
        }
        sum += of_group[b];
      }
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock, kResident)
    look_ahead_kernel(const T* x,        // (n)
                      T* y,              // (n)
                      uint32_t* ticket,  // (1), 0 before
                      Word* words,       // (tiles), 0 before
                      int64_t n, int64_t tiles, bool exclusive) {
  extern __shared__ __align__(128) unsigned char memory[];
  Shared<T>& s = *reinterpret_cast<Shared<T>*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize,
            lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  // Where there are few tiles, each block takes its share and no more, so that none has all.
  const int64_t share = days::ceil_div(tiles, int64_t{gridDim.x});
  const int first_turns = static_cast<int>(share < kStages ? share : kStages);
  // One thread takes the block's i-th tile and has it copied.
  const auto fetch = [&](int i) {
    const int64_t number = atomicAdd(ticket, 1u), first = number * kTile<T>;
    s.number[stage_of(i)] = number < tiles ? number : -1;
    if (number >= tiles || n - first < kTile<T>) return;  // a last tile that is not whole is read where it is
    days::ptx::mbarrier_arrive_expect_tx(&s.full[stage_of(i)], sizeof(Stage<T>));
    days::ptx::cp_async_bulk(s.stage[stage_of(i)].elements, x + first, sizeof(Stage<T>),
                             &s.full[stage_of(i)]);
  };
  const auto load = [&](Tile<T>& tile, int i) {
    const int64_t first = s.number[stage_of(i)] * kTile<T>;
    if (n - first < kTile<T>) {
      tile.load(x + first, static_cast<int>(n - first));
    } else {
      days::ptx::mbarrier_wait(&s.full[stage_of(i)], phase_of(i));
      tile.load(s.stage[stage_of(i)].elements);
    }
  };

  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      days::ptx::mbarrier_init(&s.full[i], 1);
      s.number[i] = -1;
    }
    days::ptx::fence_proxy_async_shared();
    for (int i = 0; i < first_turns; ++i) fetch(i);
  }
  __syncthreads();

  Prefix<T> prefix;
  for (int i = -kAhead; i < 0 || s.number[stage_of(i)] >= 0; ++i) {
    const auto has = [&](int one) { return one >= 0 && s.number[stage_of(one)] >= 0; };
    if (warp < kLooker) {
      Tile<T> tile;
      if (has(i)) {
        load(tile, i);
        tile.scan();
        const int stage = stage_of(i);
        const int64_t first = s.number[stage] * kTile<T>;
        const Wide<T> base =
            s.before[stage] + static_cast<Wide<T>>(warps_before<kWarps>(s.of_warps[stage]).before);
        tile.store(y + first, count_of<T>(first, n), static_cast<Total<T>>(base), exclusive);
      }
      if (has(i + kAhead)) {
        load(tile, i + kAhead);
        Total<T> sum = 0;
#pragma unroll
        for (int j = 0; j < kVectors; ++j) sum += tile.sum_of(j);
        sum = days::warp_reduce(sum, days::Sum{});
        if (lane == 0) s.of_warps[stage_of(i + kAhead)][warp] = sum;
      }
    } else if (warp == kLooker) {
      const int added = i + kAhead - 1;
      if (lane == 0 && has(added)) {
        const Total<T> sum = warps_before<kWarps>(s.of_warps[stage_of(added)]).total;
        days::ptx::st_relaxed_gpu(&words[s.number[stage_of(added)]], word_of(kOwn, sum));
      }
      if (has(i + 1)) {
        const Wide<T> before = prefix.up_to(words, s.number[stage_of(i + 1)]);
        if (lane == 0) s.before[stage_of(i + 1)] = before;
      }
    } else if (lane == 0 && i > 0) {  // the stage of the tile that was scanned before the last barrier
      if (first_turns == kStages) {
        fetch(i - 1 + kStages);
      } else {
        s.number[stage_of(i - 1)] = -1;
      }
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void scan_look_ahead(const Scan<T>& p, cudaStream_t stream) {
  const int64_t tiles = tiles_of(p, kTile<T>, "look_ahead");
  days::require_needs(p, "look_ahead", kAligned);
  char* const memory = workspace_of(p, words_workspace(p), "look_ahead");
  CUDA_CHECK(cudaMemsetAsync(memory, 0, words_workspace(p), stream));
  const auto kernel = look_ahead_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared<T>)));
  const int64_t blocks = std::min(tiles, int64_t{kResident} * days::multiprocessors());
  kernel<<<static_cast<unsigned>(blocks), kBlock, sizeof(Shared<T>), stream>>>(
      p.x, p.y, reinterpret_cast<uint32_t*>(memory), reinterpret_cast<Word*>(memory + kTicketBytes), p.n,
      tiles, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_look_ahead, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
