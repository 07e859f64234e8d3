// SPDX-License-Identifier: MIT
//
// Scans with a bug in each, which day 57's tests must reject.

#include <algorithm>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day57_prefix_sum/prefix_sum.h"
#include "day57_prefix_sum/tile.cuh"

namespace day57 {
namespace {

constexpr int kWarp = days::kWarpSize;

// ---- within a warp, which takes 32 elements after 32 ----

// F(before, with, own, lane): what is written of the sums before this element in these 32, with it, and of what came before them.
template <class T, class F>
__global__ void warp_after_warp(const T* x, T* y, int64_t n, bool exclusive, F f) {
  Total<T> before = 0;
  for (int64_t i = threadIdx.x; i - threadIdx.x < n; i += kWarp) {
    const Total<T> own = i < n ? to_total(x[i]) : Total<T>{0};
    Total<T> total;
    const Total<T> lanes = days::warp_exclusive_scan(own, total);
    const Total<T> sum = f(before, lanes, own, exclusive);
    if (i < n) y[i] = from_total<T>(sum);
    before = f.carried(before, total);
  }
}
template <class F, class T>
void launch(const Scan<T>& p, cudaStream_t stream) {
  warp_after_warp<<<1, kWarp, 0, stream>>>(p.x, p.y, p.n, p.exclusive, F{});
  CUDA_CHECK_LAUNCH();
}
struct Right {
  template <class Sum>
  __device__ Sum carried(Sum before, Sum total) const {
    return before + total;
  }
};

// The exclusive scan as the inclusive one less the element: infinity less infinity is no number.
struct Subtracts : Right {
  template <class Sum>
  __device__ Sum operator()(Sum before, Sum lanes, Sum own, bool exclusive) const {
    const Sum with = before + lanes + own;
    return exclusive ? with - own : with;
  }
};
void subtracts(const Scan<float>& p, cudaStream_t stream) {
  launch<Subtracts>(p, stream);
}
MUST_REJECT(scan, subtracts, "both infinities");

// The exclusive scan is shifted within the 32 alone: the first of them gets nothing from those before.
struct ShiftedInTile : Right {
  template <class Sum>
  __device__ Sum operator()(Sum before, Sum lanes, Sum own, bool exclusive) const {
    if (exclusive) return threadIdx.x == 0 ? Sum{0} : before + lanes;
    return before + lanes + own;
  }
};
void shifted_in_tile(const Scan<int32_t>& p, cudaStream_t stream) {
  launch<ShiftedInTile>(p, stream);
}
MUST_REJECT(scan, shifted_in_tile, "exclusive: y[32] is 0");

// What is carried on is in 16 bits.
struct CarriesHalf {
  __device__ float operator()(float before, float lanes, float own, bool exclusive) const {
    return before + (exclusive ? lanes : lanes + own);
  }
  __device__ float carried(float before, float total) const {
    return days::to_float(days::from_float<days::half>(before + total));
  }
};
void carries_half(const Scan<days::half>& p, cudaStream_t stream) {
  launch<CarriesHalf>(p, stream);
}
MUST_REJECT(scan, carries_half, "y[");

// ---- between blocks of one warp, which publish a sum and a flag ----

constexpr int kMostTiles = 64;
struct Board {
  uint32_t ticket, flags[kMostTiles];
  float sums[kMostTiles];
};
__device__ Board of_prefix_as_own;

enum Bug { kPrefixAsOwn, kNoOrder };

template <Bug kBug>
__global__ void blocks_kernel(const float* x, float* y, int64_t n, bool exclusive, Board* board) {
  const uint32_t drawn = threadIdx.x == 0 ? atomicAdd(&board->ticket, 1u) : 0;
  const int64_t tile = __shfl_sync(days::kFullWarp, drawn, 0), i = tile * kWarp + threadIdx.x;
  const float own = i < n ? x[i] : 0;
  float total, before = 0;
  const float lanes = days::warp_exclusive_scan(own, total);
  if (threadIdx.x == 0) {
    if (kBug == kNoOrder) {  // flag and sum are two words, and nothing puts them into order
      board->sums[tile] = total;
      days::ptx::st_relaxed_gpu(&board->flags[tile], 1u);
      for (int64_t other = 0; other < tile; ++other) {
        while (days::ptx::ld_relaxed_gpu(&board->flags[other]) == 0) {
        }
        before += board->sums[other];
      }
    } else {  // the sum up to a tile stands where its own is looked for
      for (int64_t other = 0; other < tile; ++other) {
        while (days::ptx::ld_acquire_gpu(&board->flags[other]) == 0) {
        }
        before += board->sums[other];
      }
      board->sums[tile] = before + total;
      days::ptx::st_release_gpu(&board->flags[tile], 1u);
    }
  }
  before = __shfl_sync(days::kFullWarp, before, 0);
  if (i < n) y[i] = before + lanes + (exclusive ? 0 : own);
}

template <Bug kBug>
void launch_blocks(const Scan<float>& p, void* board, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(board, 0, sizeof(Board), stream));
  const int64_t tiles = std::min(days::ceil_div(p.n, kWarp), int64_t{kMostTiles});
  blocks_kernel<kBug><<<static_cast<unsigned>(tiles), kWarp, 0, stream>>>(p.x, p.y, p.n, p.exclusive,
                                                                          static_cast<Board*>(board));
  CUDA_CHECK_LAUNCH();
}
void prefix_as_own(const Scan<float>& p, cudaStream_t stream) {
  void* board = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&board, of_prefix_as_own));
  launch_blocks<kPrefixAsOwn>(p, board, stream);
}
MUST_REJECT(scan, prefix_as_own, "1023: y[64] is");

// ---- segments ----

// The left part's head makes the right part's sum void.
__global__ void swapped_kernel(const int32_t* x, const uint8_t* head, int32_t* y, int64_t n) {
  uint32_t sum = 0;
  bool any = false;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t own = static_cast<uint32_t>(x[i]);
    sum = any ? sum : sum + own;
    any = any || head[i] != 0;
    y[i] = static_cast<int32_t>(sum);
  }
}
void swapped(const SegmentedScan<int32_t>& p, cudaStream_t stream) {
  swapped_kernel<<<1, 1, 0, stream>>>(p.x, p.head, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(segmented_scan, swapped, "y[");

}  // namespace

// A flag and a sum without an order: right by luck on a CPU, where a checked build reports it.
void no_order(const Scan<float>& p, cudaStream_t stream) {
  launch_blocks<kNoOrder>(p, p.workspace.data, stream);
}

}  // namespace day57
