// SPDX-License-Identifier: MIT
//
// Half of a causal problem is not there: tiles behind a block's last query are never fetched, and scores are
// masked only in tiles that some query of the warp sees in part. The blocks with most tiles start first, so
// that the last to run are short. Changed since async: which tiles, and in what order; nothing within one. In 64
// dimensions four blocks must fit, as of async: the loop that knows when to stop would take too many registers.
// Bound by: shared memory, one ldmatrix for two mma.

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

template <class T, int kDim>
using Shared = Ring<T, kThreads, kQueries, kKeys, kDim>;

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads, kDim == 64 ? 4 : 1) skipping_kernel(const Attention<T> p) {
  extern __shared__ uint4 memory[];
  Shared<T, kDim>& shared = *reinterpret_cast<Shared<T, kDim>*>(memory);
  const BlockQueries<kQueries, 16> mine(p);
  shared.fetch_queries(p, mine.head, mine.first);
  shared.fetch(p, mine.head, 0, mine.keys);
  days::ptx::cp_async_wait_group<1>();  // q is here
  __syncthreads();
  uint32_t q[kDim / 16][1][4];
  load_queries(q, shared.q, mine.row - mine.first);

  float o[1][kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < mine.keys; key += kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    shared.fetch(p, mine.head, key + kKeys, mine.keys);

    float scores[1][kKeys / 8][4] = {};
    multiply_keys<T>(scores, shared.k, shared.row(key), kept(q));
    if (key + kKeys > mine.all_see) mask(scores[0], p, mine.row, key);
    online_softmax(scores[0], rows, o[0], p.scale * kLog2E, 0);
    multiply_values<T>(o, scores, shared.v, shared.row(key));
  }
  store_rows(p, mine.head, mine.row, o[0], rows);
}

}  // namespace

template <class T>
requires Half<T>
void attention_skipping(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "skipping");
  days::require_needs(p, "skipping", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "skipping");
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<T, dim>);
    const auto kernel = skipping_kernel<T, dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, kThreads, kBytes, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(attention_skipping, Attention, days::half, days::bf16);

}  // namespace day43
