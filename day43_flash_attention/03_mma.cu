// SPDX-License-Identifier: MIT
//
// Tensor cores: both products by mma.sync, 16 x 8 x 16 an instruction, 64 times the multiply-adds of an FFMA.
// A block of four warps has 64 queries, a warp 16 of them; q's fragments stay in registers, and so do the
// weights: an accumulator of the first product is, rounded, a fragment of the second. Changed since tiled:
// the instruction, and that shared memory holds no weights.
// Bound by: bank conflicts of ldmatrix, whose 8 rows of 16 bytes lie 128 or 256 bytes apart; and every tile
// is waited for.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/ring.cuh"
#include "day43_flash_attention/softmax.cuh"
#include "day43_flash_attention/tensor.cuh"

namespace day43 {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kQueries = 16 * kWarps, kKeys = 64;

template <class T, int kDim>
struct Shared {
  Tile<T, kQueries, kDim, false> q;
  Tile<T, kKeys, kDim, false> k, v;
};

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) mma_kernel(const Attention<T> p, int blocks_a_head) {
  __shared__ Shared<T, kDim> shared;
  const int64_t head = blockIdx.x / static_cast<unsigned>(blocks_a_head);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks_a_head)) * kQueries;
  const int warp_row = static_cast<int>(threadIdx.x) / days::kWarpSize * 16;
  const T* k = p.k + head * p.seq_k * kDim;
  const T* v = p.v + head * p.seq_k * kDim;

  load_tile<kThreads, kQueries>(shared.q, p.q + head * p.seq_q * kDim, first, p.seq_q);
  __syncthreads();
  uint32_t q[kDim / 16][1][4];
  load_queries(q, shared.q, warp_row);

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < p.seq_k; key += kKeys) {
    __syncthreads();  // all are done with the tiles that were here
    load_tile<kThreads, kKeys>(shared.k, k, key, p.seq_k);
    load_tile<kThreads, kKeys>(shared.v, v, key, p.seq_k);
    __syncthreads();

    float scores[1][kKeys / 8][4] = {};
    multiply_keys<T>(scores, shared.k, 0, kept(q));
    mask(scores[0], p, first + warp_row, key);
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);
    multiply_values<T>(o, scores, shared.v, 0);
  }
  store_rows(p, head, first + warp_row, o[0], rows);
}

}  // namespace

template <class T>
requires Half<T>
void attention_mma(const Attention<T>& p, cudaStream_t stream) {
  require_vectors(p, "mma");
  const unsigned blocks = days::attention_blocks(p, kQueries, "mma");
  for_dim(p.dim, [&](auto dim) {
    mma_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

ATTENTION_INSTANTIATE_HALVES(attention_mma);

}  // namespace day43
