// SPDX-License-Identifier: MIT
//
// Tensor cores, and five products instead of seven: a block of eight warps (four, of 128 columns) keeps 16 keys a warp, walks
// along the queries, 64 a tile, and makes each weight once. The weights and dS of a warp's keys are, rounded, just what its
// sums of dv and dk want on their left, so they stay in registers. But dq lies across: a query's sum runs over the keys
// of all warps and of all blocks. So dS goes through shared memory, the block adds up its keys, and the rest is
// done by atomic additions to a dq in fp32, which a last kernel rounds. Changed since tiled: the instruction, and who
// owns dq.
// Bound by: tiles that are waited for, shared memory, and 4 bytes of atomic additions to dq for 128 (64) scores and a column.

#include <cstdint>

#include "common/attention/pitched.cuh"
#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"
#include "day47_flash_attention_backward/pairs.cuh"
#include "day47_flash_attention_backward/rows.cuh"

namespace day47 {
namespace {

using namespace days::attention;

constexpr int kQueries = 64, kRoundThreads = 256;

template <class T, int kDim>
struct Shared {
  static constexpr int kWarps = 512 / kDim, kThreads = kWarps * days::kWarpSize, kKeys = 16 * kWarps;
  Tile<T, kKeys, kDim, true> k, v;
  Tile<T, kQueries, kDim, true> q, dout;
  Tile<T, kKeys, kQueries, true> ds;  // a key's row
};

template <class T, int kDim>
__global__ void __launch_bounds__(Shared<T, kDim>::kThreads)
    keys_kernel(const AttentionBackward<T> p, RowData rows, float* sums, float scale, int blocks_a_head) {
  using S = Shared<T, kDim>;
  constexpr int kThreads = S::kThreads, kKeys = S::kKeys;
  extern __shared__ uint4 memory[];
  S& shared = *reinterpret_cast<S*>(memory);
  const int at = static_cast<int>(blockIdx.x) / blocks_a_head, batch = at / p.kv_heads,
            kv_head = at % p.kv_heads;
  const int first = static_cast<int>(blockIdx.x) % blocks_a_head * kKeys, group = p.heads / p.kv_heads;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize, warp_key = 16 * warp;

  const int64_t of_kv = p.of_kv.at(batch, kv_head, 0);
  load_pitched<kThreads, kKeys>(shared.k, 0, p.k + of_kv, p.of_kv.token, first, p.seq_k);
  load_pitched<kThreads, kKeys>(shared.v, 0, p.v + of_kv, p.of_kv.token, first, p.seq_k);
  const auto left = [warp_key](auto& tile) {
    return [&tile, warp_key](int step, uint32_t(&a)[1][4]) { load_left(a[0], tile, warp_key, step); };
  };

  float dk[1][kDim / 8][4] = {}, dv[1][kDim / 8][4] = {};
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const int64_t of = int64_t{batch} * p.heads + head;
    for (int query = 0; query < p.seq_q; query += kQueries) {
      __syncthreads();  // all are done with the tile before
      load_pitched<kThreads, kQueries>(shared.q, 0, p.q + p.of_q.at(batch, head, 0), p.of_q.token, query,
                                       p.seq_q);
      load_pitched<kThreads, kQueries>(shared.dout, 0, p.dout + p.of_o.at(batch, head, 0), p.of_o.token,
                                       query, p.seq_q);
      __syncthreads();

      // 16 keys down, 64 queries across.
      float weight[1][kQueries / 8][4] = {}, ds[1][kQueries / 8][4] = {};
      multiply_keys<T>(weight, shared.q, 0, left(shared.k));
      multiply_keys<T>(ds, shared.dout, 0, left(shared.v));
      const bool masked = days::visible_keys(p.causal, query, p.seq_q, p.seq_k) < first + warp_key + 16;
      weigh<true>(weight[0], ds[0], p, scale, query, first + warp_key, masked, [&](int n) {
        const int64_t from = of * rows.pitch + query + 8 * n + lane_col();
        const float2 lse = *reinterpret_cast<const float2*>(rows.lse + from);
        const float2 d = *reinterpret_cast<const float2*>(rows.d + from);
        return TwoRows{{lse.x, lse.y}, {d.x, d.y}};
      });
      multiply_values<T>(dv, weight, shared.dout, 0);
      multiply_values<T>(dk, ds, shared.q, 0);
#pragma unroll
      for (int n = 0; n < kQueries / 8; ++n) {
        T* const to = shared.ds.at(warp_key + lane_row(), n) + lane_col();
        *reinterpret_cast<uint32_t*>(to) = pack<T>(ds[0][n][0], ds[0][n][1]);
        *reinterpret_cast<uint32_t*>(to + 8 * kQueries) = pack<T>(ds[0][n][2], ds[0][n][3]);
      }
      __syncthreads();  // dS of all warps is here

      // A warp has 16 of the 64 queries and its part of the columns, and adds up all keys of the block; dS is transposed
      // on its way.
      constexpr int kCols = kDim / (S::kWarps / 4);
      const int row = 16 * (warp % 4), col = kCols * (warp / 4);
      float dq[kCols / 8][4] = {};
#pragma unroll
      for (int step = 0; step < kKeys / 16; ++step) {
        uint32_t a[4];
        days::ptx::ldmatrix<true>(a,
                                  shared.ds.at(lane / 16 * 8 + lane % 8, lane / 8 % 2, row / 8, step * 16));
#pragma unroll
        for (int d = 0; d < kCols / 8; d += 2) {
          uint32_t b[4];
          days::ptx::ldmatrix<true>(b, shared.k.at(lane % 16, lane / 16, col / 8 + d, step * 16));
          mma<T>(dq[d], a, b[0], b[1]);
          mma<T>(dq[d + 1], a, b[2], b[3]);
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int to = query + row + lane_row() + i / 2 * 8;
        if (to >= p.seq_q) continue;
#pragma unroll
        for (int d = 0; d < kCols / 8; ++d)
          atomicAdd(sums + (of * p.seq_q + to) * kDim + col + 8 * d + lane_col() + i % 2, dq[d][i]);
      }
    }
  }
  __syncthreads();  // all are done with the keys, whose rows the stores pass through
  store_sums<T>(dk[0], p.scale, shared.k, warp_key, p.dk + of_kv, p.of_kv.token, first + warp_key, p.seq_k);
  store_sums<T>(dv[0], 1, shared.v, warp_key, p.dv + of_kv, p.of_kv.token, first + warp_key, p.seq_k);
}

// dq = scale * sums, four elements a thread.
template <class T, int kDim>
__global__ void round_kernel(const AttentionBackward<T> p, const float* sums) {
  const int64_t count = int64_t{p.batch} * p.heads * p.seq_q * (kDim / 4),
                step = int64_t{gridDim.x} * kRoundThreads;
  for (int64_t i = int64_t{blockIdx.x} * kRoundThreads + threadIdx.x; i < count; i += step) {
    const int64_t row = i / (kDim / 4), head = row / p.seq_q;
    const float4 sum = reinterpret_cast<const float4*>(sums)[i];
    T* const to = p.dq + p.of_q.at(head / p.heads, head % p.heads, row % p.seq_q) + i % (kDim / 4) * 4;
    *reinterpret_cast<uint2*>(to) =
        make_uint2(pack<T>(sum.x * p.scale, sum.y * p.scale), pack<T>(sum.z * p.scale, sum.w * p.scale));
  }
}

}  // namespace

template <class T>
requires Half<T>
void backward_keys(const AttentionBackward<T>& p, cudaStream_t stream) {
  days::require_attention_backward(p, "keys");
  days::require_needs(p, "keys", kAligned);
  require_workspace(p, "keys", keys_workspace(p));
  const size_t bytes = keys_workspace(p) - rows_workspace(p);
  float* const sums =
      reinterpret_cast<float*>(static_cast<unsigned char*>(p.workspace.data) + rows_workspace(p));
  for_dim(p.dim, [&](auto dim) {
    using S = Shared<T, dim>;
    constexpr int kBytes = sizeof(S);
    const unsigned blocks = days::attention_grid(p.batch, p.kv_heads, p.seq_k, S::kKeys, "keys");
    const auto kernel = keys_kernel<T, dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    const RowData rows = launch_rows(p, kLog2E, stream);
    CUDA_CHECK(cudaMemsetAsync(sums, 0, bytes, stream));
    kernel<<<blocks, S::kThreads, kBytes, stream>>>(p, rows, sums, p.scale * kLog2E,
                                                    days::ceil_div(p.seq_k, S::kKeys));
    CUDA_CHECK_LAUNCH();
    const size_t round_blocks = days::ceil_div(bytes / 16, size_t{kRoundThreads});
    const unsigned grid = static_cast<unsigned>(round_blocks < 65536 ? round_blocks : 65536);
    round_kernel<T, dim><<<grid, kRoundThreads, 0, stream>>>(p, sums);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(backward_keys, AttentionBackward, days::half, days::bf16);

}  // namespace day47
