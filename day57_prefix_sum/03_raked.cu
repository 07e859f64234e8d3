// SPDX-License-Identifier: MIT
// A thread adds up its own elements one after the other, and only then do threads talk: the lanes of a warp by shuffles, without
// shared memory, and the warps by one word each. A thread has four vectors of 16 bytes; load j of a warp takes 32 vectors in a row,
// so that no byte moves in vain, and each load has a scan of its own.
// Changed since sweeps: 1 barrier a tile for 21, and no bank conflicts. Teaches: __shfl_up_sync.
// Bound by: memory, but x is read twice.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

// The sum up to and with this lane.
template <class Sum>
__device__ Sum inclusive_in_warp(Sum value) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int distance = 1; distance < days::kWarpSize; distance *= 2) {
    const Sum below = __shfl_up_sync(days::kFullWarp, value, distance);
    if (lane >= distance) value = below + value;
  }
  return value;
}

template <class T, bool kWhole>  // whole: the array has all of the tile, and x and y are aligned
__device__ void scan_tile(const T* x, T* y, Total<T> sum, int count, bool exclusive) {
  __shared__ Total<T> of_warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  days::Vec<T> own[kVectors];
  Total<T> before[kVectors];  // each vector: in the warp
  int place[kVectors];
  Total<T> of_warp = 0;
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    place[j] = ((warp * kVectors + j) * days::kWarpSize + lane) * kEach<T>;
    if constexpr (kWhole) {
      own[j] = days::load16(x + place[j]);
    } else {
      for (int i = 0; i < kEach<T>; ++i)
        own[j][i] = place[j] + i < count ? x[place[j] + i] : from_total<T>(0);
    }
  }
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    Total<T> mine = to_total(own[j][0]);
#pragma unroll
    for (int i = 1; i < kEach<T>; ++i) mine += to_total(own[j][i]);
    const Total<T> with = inclusive_in_warp(mine);
    // Not `with - mine`, which is no number where an element is infinite.
    const Total<T> lanes = __shfl_up_sync(days::kFullWarp, with, 1);
    before[j] = of_warp + (lane == 0 ? Total<T>{0} : lanes);
    of_warp += __shfl_sync(days::kFullWarp, with, days::kWarpSize - 1);
  }
  if (lane == 0) of_warps[warp] = of_warp;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += of_warps[w];
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    const Total<T> first = sum + before[j];
    Total<T> up_to = 0;
    days::Vec<T> result;
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      const Total<T> with = up_to + to_total(own[j][i]);
      result[i] = from_total<T>(first + (exclusive ? up_to : with));
      up_to = with;
    }
    if constexpr (kWhole) {
      days::store16(y + place[j], result);
    } else {
      for (int i = 0; i < kEach<T>; ++i) {
        if (place[j] + i < count) y[place[j] + i] = result[i];
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) raked_kernel(const T* x,            // (n)
                                                         T* y,                  // (n)
                                                         const Total<T>* sums,  // (tiles)
                                                         int64_t n, bool exclusive) {
  const int64_t first = int64_t{blockIdx.x} * kTile<T>;
  if (first >= n) return;
  const int count = static_cast<int>(n - first < kTile<T> ? n - first : kTile<T>);
  const Total<T> sum = sums[blockIdx.x];
  if (count == kTile<T> && days::aligned16(x, y)) {
    scan_tile<T, true>(x + first, y + first, sum, count, exclusive);
  } else {
    scan_tile<T, false>(x + first, y + first, sum, count, exclusive);
  }
}

}  // namespace

template <class T>
void scan_raked(const Scan<T>& p, cudaStream_t stream) {
  const unsigned tiles = static_cast<unsigned>(tiles_of(p, kTile<T>, "raked"));
  Total<T>* sums = reinterpret_cast<Total<T>*>(workspace_of(p, raked_workspace(p), "raked"));
  sums_before_tiles<kTile<T>>(p, sums, stream);
  raked_kernel<<<tiles, kThreads, 0, stream>>>(p.x, p.y, sums, p.n, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_raked, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
