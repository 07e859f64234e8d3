// SPDX-License-Identifier: MIT
//
// The next tile is under way while this one is multiplied: cp.async copies past the registers, into the other
// of two pairs of tiles, and one barrier a tile says both that it has landed and that the other pair is free.
// And tiles are swizzled, so that ldmatrix meets no conflict. Changed since mma: nothing of the arithmetic.
// Bound by: shared memory still, one ldmatrix for two mma; and with a causal mask by tiles that nobody sees.
// Teaches: cp_async_cg, cp_async_commit_group, cp_async_wait_group.

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

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kQueries = 16 * kWarps, kKeys = 64;

// The block's queries, and two tiles each of keys and values, filled by turns.
template <class T, int kDim>
struct Shared {
  Tile<T, kQueries, kDim, true> q;
  Tile<T, 2 * kKeys, kDim, true> k, v;
};

// Starts to copy kRows rows from `first` of a (count, kDim) array to rows `row` ... of the tile, 16 bytes an
// instruction. Where a row is past the last, nothing is read and the 16 bytes become zeros.
template <int kRows, class Tile>
__device__ __forceinline__ void start_copies(Tile& tile, int row, const typename Tile::Element* from,
                                             int first, int count) {
  for_chunks<kThreads, kRows>(tile, row, from, first, count, [](auto* to, auto* source, bool inside) {
    days::ptx::cp_async_cg(to, source, inside ? 16 : 0);
  });
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) async_kernel(const Attention<T> p, int blocks_a_head) {
  extern __shared__ uint4 memory[];
  Shared<T, kDim>& shared = *reinterpret_cast<Shared<T, kDim>*>(memory);
  const int64_t head = blockIdx.x / static_cast<unsigned>(blocks_a_head);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks_a_head)) * kQueries;
  const int warp_row = static_cast<int>(threadIdx.x) / days::kWarpSize * 16;

  // What a thread has started since its last commit is a group, an empty one too: it can wait for all groups but the
  // latest few.
  const auto fetch_keys = [&](int key) {
    if (key < p.seq_k) {
      start_copies<kKeys>(shared.k, key % (2 * kKeys), p.k + head * p.seq_k * kDim, key, p.seq_k);
      start_copies<kKeys>(shared.v, key % (2 * kKeys), p.v + head * p.seq_k * kDim, key, p.seq_k);
    }
    days::ptx::cp_async_commit_group();
  };
  start_copies<kQueries>(shared.q, 0, p.q + head * p.seq_q * kDim, first, p.seq_q);
  days::ptx::cp_async_commit_group();
  fetch_keys(0);
  days::ptx::cp_async_wait_group<1>();  // q is here
  __syncthreads();
  uint32_t q[kDim / 16][1][4];
  load_queries(q, shared.q, warp_row);

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < p.seq_k; key += kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    fetch_keys(key + kKeys);

    float scores[1][kKeys / 8][4] = {};
    multiply_keys<T>(scores, shared.k, key % (2 * kKeys), kept(q));
    mask(scores[0], p, first + warp_row, key);
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);
    multiply_values<T>(o, scores, shared.v, key % (2 * kKeys));
  }
  store_rows(p, head, first + warp_row, o[0], rows);
}

}  // namespace

template <class T>
requires Half<T>
void attention_async(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "async");
  days::require_needs(p, "async", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "async");
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<T, dim>);
    const auto kernel = async_kernel<T, dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(attention_async, Attention, days::half, days::bf16);

}  // namespace day43
