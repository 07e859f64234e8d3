// SPDX-License-Identifier: MIT
//
// Thirty-two queries a warp: each fragment of a key or value that ldmatrix brings serves two products instead
// of one, and a block of 128 queries fetches each tile half as often. What a tile costs besides its products
// is cut too: sums and o are shrunk only where a score lies 2^8 above the reference point, and a warp that
// sees nothing of a tile passes it by. Rows of o leave whole, by way of q's place in shared memory. Changed
// since skipping: the warp's share, when o is rescaled, and how it is stored.
// What should bound it now: the products, and for 64 columns 2^x, one for every 256 of their operations.

#include <cstdint>

#include "common/attention/ring.cuh"
#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

using namespace days::attention;

// What a GPU of its own may want otherwise.
struct Tuning {
  int warps;        // a block
  int row_tiles;    // of 16 queries, a warp
  int keys;         // a tile
  int at_once;      // of them, whose scores are in registers
  bool q_stays;     // q's fragments stay in registers; else they are loaded for each product
  int blocks;       // a multiprocessor, which limits registers
  float slack = 8;  // a weight may grow to 2^slack before o is rescaled
};
template <int kDim>
inline constexpr Tuning kTuning =
    kDim == 64 ? Tuning{4, 2, 128, 64, true, 2} : Tuning{4, 2, 64, 64, false, 2};

template <int kDim>
struct Sizes {
  static constexpr Tuning kUse = kTuning<kDim>;
  static constexpr int kThreads = kUse.warps * days::kWarpSize, kRows = 16 * kUse.row_tiles;
  static constexpr int kQueries = kRows * kUse.warps;
  static constexpr int kKeys = kUse.keys, kAtOnce = kUse.at_once;
  static constexpr int kHeld = kUse.q_stays ? kDim / 16 : 1;  // steps of 16 columns whose fragments are kept
};

template <class T, int kDim>
using Shared = Ring<T, Sizes<kDim>::kThreads, Sizes<kDim>::kQueries, Sizes<kDim>::kKeys, kDim>;

template <class T, int kDim>
__global__ void __launch_bounds__(Sizes<kDim>::kThreads, kTuning<kDim>.blocks)
    wide_kernel(const Attention<T> p, float scale, float slack) {
  using S = Sizes<kDim>;
  constexpr int kM = S::kUse.row_tiles;
  extern __shared__ uint4 memory[];
  Shared<T, kDim>& shared = *reinterpret_cast<Shared<T, kDim>*>(memory);
  const BlockQueries<S::kQueries, S::kRows> mine(p);
  shared.fetch_queries(p, mine.head, mine.first);
  shared.fetch(p, mine.head, 0, mine.keys);
  const auto load_q = [&](int step, uint32_t(&a)[kM][4]) {
#pragma unroll
    for (int m = 0; m < kM; ++m) load_left(a[m], shared.q, mine.row - mine.first + 16 * m, step);
  };
  uint32_t q[S::kHeld][kM][4];
  if (S::kUse.q_stays || mine.keys == 0) {  // else q is waited for with the first tile
    days::ptx::cp_async_wait_group<1>();
    __syncthreads();
  }
  if constexpr (S::kUse.q_stays) {
#pragma unroll
    for (int step = 0; step < S::kHeld; ++step) load_q(step, q[step]);
  }

  float o[kM][kDim / 8][4] = {};
  RowState rows[kM];
  for (int tile = 0; tile < mine.keys; tile += S::kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    shared.fetch(p, mine.head, tile + S::kKeys, mine.keys);

    const int end = min(tile + S::kKeys, mine.some_see);
#pragma unroll 1
    for (int key = tile; key < end; key += S::kAtOnce) {
      float scores[kM][S::kAtOnce / 8][4] = {};
      if constexpr (S::kUse.q_stays) {
        multiply_keys<T>(scores, shared.k, shared.row(key), kept(q));
      } else {
        multiply_keys<T>(scores, shared.k, shared.row(key), load_q);
      }
      if (key + S::kAtOnce > mine.all_see) {
#pragma unroll
        for (int m = 0; m < kM; ++m) mask(scores[m], p, mine.row + 16 * m, key);
      }
#pragma unroll
      for (int m = 0; m < kM; ++m) online_softmax(scores[m], rows[m], o[m], scale, slack);
      multiply_values<T>(o, scores, shared.v, shared.row(key));
    }
  }
#pragma unroll
  for (int m = 0; m < kM; ++m)
    store_rows(p, mine.head, mine.row + 16 * m, o[m], rows[m], shared.q, mine.row - mine.first + 16 * m);
}

}  // namespace

template <class T>
requires Half<T>
void attention_wide(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "wide");
  days::require_needs(p, "wide", kAligned);
  for_dim(p.dim, [&](auto dim) {
    using S = Sizes<dim>;
    constexpr int kBytes = sizeof(Shared<T, dim>);
    const unsigned blocks = days::attention_blocks(p, S::kQueries, "wide");
    const auto kernel = wide_kernel<T, dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    const float scale = p.scale * kLog2E;
    kernel<<<blocks, S::kThreads, kBytes, stream>>>(p, scale, S::kUse.slack / scale);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(attention_wide, Attention, days::half, days::bf16);

}  // namespace day43
