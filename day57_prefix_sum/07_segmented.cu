// SPDX-License-Identifier: MIT
// Many scans in one: where head[i] is set a new sum begins. What is added up is a pair, whether there is a head and the sum since
// the last one, and the sides of the addition matter: the right part's head makes the left part's sum void. A warp knows by one
// ballot which lanes have heads, and a lane adds nothing from below the last of them. A tile with a head publishes what comes after
// it as the sum up to its end at once, so that whoever looks back stops there: heads cut the chain.
// Changed since one_word: a byte an element more. Bound by: waiting for the tiles before, memory where heads are dense.
#include "common/check.h"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "day57_prefix_sum/look_back.cuh"
#include "day57_prefix_sum/prefix_sum.h"
#include "day57_prefix_sum/tile.cuh"
#include "day57_prefix_sum/word.cuh"

namespace day57 {
namespace {

template <class Sum>
struct Part {
  bool head;
  Sum sum;  // since the last head
};
template <class Sum>
__device__ Part<Sum> joined(Part<Sum> left, Part<Sum> right) {
  return {left.head || right.head, right.head ? right.sum : left.sum + right.sum};
}

// What the lanes before this one bring; `total`, what all bring.
template <class Sum>
__device__ Part<Sum> before_in_warp(Part<Sum> part, Part<Sum>& total) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const unsigned heads = __ballot_sync(days::kFullWarp, part.head), below = (1u << lane) - 1;
  const int from =
      31 - __clz(static_cast<int>(heads & (below | 1u << lane)));  // the last head's lane; -1: none
#pragma unroll
  for (int distance = 1; distance < days::kWarpSize; distance *= 2) {
    const Sum other = __shfl_up_sync(days::kFullWarp, part.sum, distance);
    if (lane >= distance && lane - distance >= from) part.sum = other + part.sum;
  }
  total = {heads != 0, __shfl_sync(days::kFullWarp, part.sum, days::kWarpSize - 1)};
  const Sum before = __shfl_up_sync(days::kFullWarp, part.sum, 1);
  return {(heads & below) != 0, lane == 0 ? Sum{0} : before};
}

// A bit for each element of a thread's vector whose head is set; `left` of them are there.
template <class T>
__device__ unsigned heads_of(const uint8_t* head, int left) {
  constexpr int kWords = kEach<T> / 4;
  unsigned heads = 0;
  if (left >= kEach<T> && reinterpret_cast<uintptr_t>(head) % 4 == 0) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t four = reinterpret_cast<const uint32_t*>(head)[w];
#pragma unroll
      for (int i = 0; i < 4; ++i) heads |= (four >> 8 * i & 255u) != 0 ? 1u << (4 * w + i) : 0u;
    }
    return heads;
  }
#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) heads |= i < left && head[i] != 0 ? 1u << i : 0u;
  return heads;
}

template <class T>
__global__ void __launch_bounds__(kThreads) segmented_kernel(const T* x,           // (n)
                                                             const uint8_t* head,  // (n)
                                                             T* y,                 // (n)
                                                             uint32_t* ticket,     // (1), 0 before
                                                             Word* words,          // (tiles), 0 before
                                                             int64_t n) {
  using Sum = Total<T>;
  __shared__ uint32_t drawn;
  __shared__ Part<Sum> of_warps[kWarps];
  __shared__ Sum found;
  if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1u);
  __syncthreads();
  const int64_t number = drawn, first = number * kTile<T>;
  const int count = count_of<T>(first, n), warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  Tile<T> tile;
  tile.load(x + first, count);
  unsigned heads[kVectors];
  Part<Sum> before[kVectors], of_warp = {false, 0};  // before each vector: in the warp
#pragma unroll
  for (int j = 0; j < kVectors; ++j)
    heads[j] = heads_of<T>(head + first + tile.place(j), count - tile.place(j));
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    Part<Sum> mine = {heads[j] != 0, 0}, total;
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      const Sum element = to_total(tile.vector[j][i]);
      mine.sum = heads[j] >> i & 1 ? element : mine.sum + element;
    }
    before[j] = joined(of_warp, before_in_warp(mine, total));
    of_warp = joined(of_warp, total);
  }
  if (threadIdx.x % days::kWarpSize == 0) of_warps[warp] = of_warp;
  __syncthreads();
  Part<Sum> of_tile = {false, 0}, warps = of_tile;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) warps = of_tile;
    of_tile = joined(of_tile, of_warps[w]);
  }
  if (warp == 0) {
    if (threadIdx.x == 0)
      days::ptx::st_relaxed_gpu(&words[number], word_of(of_tile.head ? kUpTo : kOwn, of_tile.sum));
    const Sum sum = look_back<Sum>(number, [&](int64_t other) -> Seen<Sum> {
      Word seen;
      do {
        seen = days::ptx::ld_relaxed_gpu(&words[other]);
      } while (seen == 0);
      return {seen >= kUpTo, sum_in<Sum>(seen)};
    });
    if (threadIdx.x == 0) {
      if (!of_tile.head) days::ptx::st_relaxed_gpu(&words[number], word_of(kUpTo, sum + of_tile.sum));
      found = sum;
    }
  }
  __syncthreads();
  warps = joined(Part<Sum>{false, found}, warps);
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    const Sum open = joined(warps, before[j]).sum;
    Part<Sum> up_to = {false, 0};
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      const Sum element = to_total(tile.vector[j][i]);
      up_to = joined(up_to, Part<Sum>{(heads[j] >> i & 1) != 0, element});
      tile.vector[j][i] = from_total<T>(up_to.head ? up_to.sum : open + up_to.sum);
    }
    if (count == kTile<T> && days::aligned16(y)) {
      days::store16(y + first + tile.place(j), tile.vector[j]);
    } else {
#pragma unroll
      for (int i = 0; i < kEach<T>; ++i) {
        if (tile.place(j) + i < count) y[first + tile.place(j) + i] = tile.vector[j][i];
      }
    }
  }
}

}  // namespace

template <class T>
void scan_segmented(const SegmentedScan<T>& p, cudaStream_t stream) {
  const int64_t tiles = tiles_of(p, kTile<T>, "segmented");
  char* const memory = workspace_of(p, words_workspace(p), "segmented");
  CUDA_CHECK(cudaMemsetAsync(memory, 0, words_workspace(p), stream));
  segmented_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      p.x, p.head, p.y, reinterpret_cast<uint32_t*>(memory), reinterpret_cast<Word*>(memory + kTicketBytes),
      p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_segmented, SegmentedScan, float, days::half, days::bf16, int32_t);

}  // namespace day57
