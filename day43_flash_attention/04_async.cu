// SPDX-License-Identifier: MIT
//
// The next tile is under way while this one is multiplied: cp.async copies past the registers, into the other
// of two pairs of tiles, and one barrier a tile says both that it has landed and that the other pair is free.
// And tiles are swizzled, so that ldmatrix meets no conflict. Changed since mma: nothing of the arithmetic.
// Bound by: shared memory still, one ldmatrix for two mma; and with a causal mask by tiles that nobody sees.

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
using Shared = Ring<T, kThreads, kQueries, kKeys, kDim>;

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) async_kernel(const Attention<T> p, int blocks_a_head) {
  extern __shared__ uint4 memory[];
  Shared<T, kDim>& shared = *reinterpret_cast<Shared<T, kDim>*>(memory);
  const int64_t head = blockIdx.x / static_cast<unsigned>(blocks_a_head);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks_a_head)) * kQueries;
  const int warp_row = static_cast<int>(threadIdx.x) / days::kWarpSize * 16;

  shared.fetch_queries(p, head, first);
  shared.fetch(p, head, 0, p.seq_k);
  days::ptx::cp_async_wait_group<1>();  // q is here
  __syncthreads();
  uint32_t q[kDim / 16][1][4];
  load_queries(q, shared.q, warp_row);

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < p.seq_k; key += kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    shared.fetch(p, head, key + kKeys, p.seq_k);

    float scores[1][kKeys / 8][4] = {};
    multiply_keys<T>(scores, shared.k, shared.row(key), kept(q));
    mask(scores[0], p, first + warp_row, key);
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);
    multiply_values<T>(o, scores, shared.v, shared.row(key));
  }
  store_rows(p, head, first + warp_row, o[0], rows);
}

}  // namespace

template <class T>
requires Half<T>
void attention_async(const Attention<T>& p, cudaStream_t stream) {
  require_vectors(p, "async");
  const unsigned blocks = days::attention_blocks(p, kQueries, "async");
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<T, dim>);
    const auto kernel = async_kernel<T, dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

ATTENTION_INSTANTIATE_HALVES(attention_async);

}  // namespace day43
