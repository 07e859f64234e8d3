// SPDX-License-Identifier: MIT
//
// For compute capability 7.5 (T4), which has tensor cores for half alone, 16 x 8 x 8 an instruction, and no
// cp.async. The next tile waits in registers instead: values are on their way while keys are multiplied, the
// next keys while values are. q passes through the keys' tile, so that two blocks fit into the 64 KiB of
// shared memory that a multiprocessor has. Otherwise as skipping.
// Bound by: twice as many mma, two barriers a tile.

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

using T = days::half;
constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kQueries = 16 * kWarps, kKeys = kQueries;

template <int kDim>
using TileOf = Tile<T, kKeys, kDim, true>;

// A thread's share of a tile, on its way.
template <int kDim>
struct Held {
  uint4 part[kKeys * kDim / kChunk / kThreads];

  __device__ void fetch(TileOf<kDim>& tile, const T* from, int first, int count) {
    int i = 0;
    for_chunks<kThreads, kKeys>(tile, 0, from, first, count, [&](T*, const T* source, bool inside) {
      part[i++] = inside ? *reinterpret_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
    });
  }
  __device__ void put(TileOf<kDim>& tile) const {
    int i = 0;
    for_chunks<kThreads, kKeys>(tile, 0, nullptr, 0, 0,
                                [&](T* to, const T*, bool) { *reinterpret_cast<uint4*>(to) = part[i++]; });
  }
};

template <int kDim>
__global__ void __launch_bounds__(kThreads, 2) turing_kernel(const Attention<T> p) {
  __shared__ struct { TileOf<kDim> k, v; } shared;
  const BlockQueries<kQueries, 16> mine(p);
  const T* k = p.k + mine.head * p.seq_k * kDim;
  const T* v = p.v + mine.head * p.seq_k * kDim;

  Held<kDim> held;
  held.fetch(shared.k, p.q + mine.head * p.seq_q * kDim, mine.first, p.seq_q);
  held.put(shared.k);
  held.fetch(shared.k, k, 0, p.seq_k);
  __syncthreads();
  uint32_t q[kDim / 16][1][4];
  load_queries(q, shared.k, mine.row - mine.first);
  __syncthreads();  // all have their part of q

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < mine.keys; key += kKeys) {
    held.put(shared.k);
    held.fetch(shared.v, v, key, p.seq_k);
    __syncthreads();  // the keys are here, and all are done with the values before

    float scores[1][kKeys / 8][4] = {};
    multiply_keys<T, false>(scores, shared.k, 0, kept(q));
    if (key + kKeys > mine.all_see) mask(scores[0], p, mine.row, key);
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);

    held.put(shared.v);
    held.fetch(shared.k, k, key + kKeys, p.seq_k);
    __syncthreads();  // the values are here, and all are done with the keys
    multiply_values<T, false>(o, scores, shared.v, 0);
  }
  store_rows(p, mine.head, mine.row, o[0], rows);
}

}  // namespace

void attention_turing(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "turing");
  days::require_needs(p, "turing", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "turing");
  for_dim(p.dim, [&](auto dim) {
    turing_kernel<dim><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace day43
