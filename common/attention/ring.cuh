// SPDX-License-Identifier: MIT
//
// What a block of attention's kernels knows and holds: its queries, and tiles that are filled while others are
// used. Day 43 takes it apart (day43_flash_attention/04_async.cu, 05_skipping.cu).
#pragma once

#include <cstdint>

#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/util.h"

namespace days::attention {

// The kQueries of a block and the kRows of this warp. Neighbouring blocks have one head, so that its keys and
// values come from DRAM once; under a causal mask the blocks with most keys come first instead, of all heads,
// so that the last ones to run are short.
template <int kQueries, int kRows>
struct BlockQueries {
  int64_t head;
  int first, row;  // the block's first query, and the warp's
  int keys;        // that some query of the block sees
  int all_see;     // keys that each query of the warp sees
  int some_see;    // keys that one of them sees

  template <class T>
  __device__ explicit BlockQueries(const Attention<T>& p) {
    const unsigned heads = static_cast<unsigned>(p.batch) * static_cast<unsigned>(p.heads);
    const unsigned blocks = gridDim.x / heads;  // of a head
    head = p.causal ? blockIdx.x % heads : blockIdx.x / blocks;
    first = static_cast<int>(p.causal ? blocks - 1 - blockIdx.x / heads : blockIdx.x % blocks) * kQueries;
    row = first + static_cast<int>(threadIdx.x) / days::kWarpSize * kRows;
    keys = days::visible_keys(p.causal, min(first + kQueries, p.seq_q) - 1, p.seq_q, p.seq_k);
    all_see = days::visible_keys(p.causal, row, p.seq_q, p.seq_k);
    some_see = days::visible_keys(p.causal, row + kRows - 1, p.seq_q, p.seq_k);
  }
};

// Shared memory: the block's queries, and two tiles each of keys and values, filled by turns.
template <class T, int kThreads, int kQueries, int kKeys, int kDim>
struct Ring {
  Tile<T, kQueries, kDim, true> q;
  Tile<T, 2 * kKeys, kDim, true> k, v;

  // The tile's first row for keys from `key` on.
  static __device__ int row(int key) { return key % (2 * kKeys); }

  // Each is one group of copies of the thread.
  __device__ void fetch_queries(const Attention<T>& p, int64_t head, int first) {
    load_tile_async<kThreads, kQueries>(q, 0, p.q + head * p.seq_q * kDim, first, p.seq_q);
    days::ptx::cp_async_commit_group();
  }
  // An empty group where `key` is not among the first `keys`.
  __device__ void fetch(const Attention<T>& p, int64_t head, int key, int keys) {
    if (key < keys) {
      load_tile_async<kThreads, kKeys>(k, row(key), p.k + head * p.seq_k * kDim, key, p.seq_k);
      load_tile_async<kThreads, kKeys>(v, row(key), p.v + head * p.seq_k * kDim, key, p.seq_k);
    }
    days::ptx::cp_async_commit_group();
  }
};

// All q's fragments of a warp's 16 queries from `row` of the tile on.
template <int kSteps, class Tile>
__device__ __forceinline__ void load_queries(uint32_t (&q)[kSteps][1][4], Tile& tile, int row) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) load_left(q[step][0], tile, row, step);
}

// Hands them to multiply_keys.
template <int kSteps, int kM>
__device__ __forceinline__ auto kept(const uint32_t (&q)[kSteps][kM][4]) {
  return [&q](int step, uint32_t(&a)[kM][4]) {
#pragma unroll
    for (int i = 0; i < 4 * kM; ++i) a[i / 4][i % 4] = q[step][i / 4][i % 4];
  };
}

}  // namespace days::attention
