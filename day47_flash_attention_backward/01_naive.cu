// SPDX-License-Identifier: MIT
//
// Two kernels. In one a thread has a key: it walks along the queries, makes each weight again from the query's lse, and
// adds up its rows of dk and dv. In the other a thread has a query, walks along the keys, and adds up its row of dq. So no
// two threads write to one place.
// Bound by: loads. Each multiply-add waits for one or two elements of its own, and rows that do not fit into registers
// are loaded and stored as well.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"
#include "day47_flash_attention_backward/rows.cuh"

namespace day47 {
namespace {

constexpr int kThreads = 64;

template <class T>
__device__ float dot(const T* a, const T* b, int dim) {
  float sum = 0;
  for (int d = 0; d < dim; ++d) sum = fmaf(days::to_float(a[d]), days::to_float(b[d]), sum);
  return sum;
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) keys_kernel(const AttentionBackward<T> p, RowData rows) {
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;  // among all keys of all heads
  if (at >= int64_t{p.batch} * p.kv_heads * p.seq_k) return;
  const int key = static_cast<int>(at % p.seq_k), group = p.heads / p.kv_heads;
  const int64_t batch = at / p.seq_k / p.kv_heads, kv_head = at / p.seq_k % p.kv_heads;
  const int64_t mine = p.of_kv.at(batch, kv_head, key);
  float dk[kDim] = {}, dv[kDim] = {};
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (int row = 0; row < p.seq_q; ++row) {
      if (key >= days::visible_keys(p.causal, row, p.seq_q, p.seq_k)) continue;
      const T* q = p.q + p.of_q.at(batch, head, row);
      const T* dout = p.dout + p.of_o.at(batch, head, row);
      const int64_t of = (batch * p.heads + head) * rows.pitch + row;
      const float weight = expf(dot(q, p.k + mine, kDim) * p.scale - rows.lse[of]);
      const float ds = weight * (dot(dout, p.v + mine, kDim) - rows.d[of]);
#pragma unroll
      for (int d = 0; d < kDim; ++d) {
        dk[d] = fmaf(ds, days::to_float(q[d]), dk[d]);
        dv[d] = fmaf(weight, days::to_float(dout[d]), dv[d]);
      }
    }
  }
#pragma unroll
  for (int d = 0; d < kDim; ++d) {
    p.dk[mine + d] = days::from_float<T>(dk[d] * p.scale);
    p.dv[mine + d] = days::from_float<T>(dv[d]);
  }
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) queries_kernel(const AttentionBackward<T> p, RowData rows) {
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;  // among all queries of all heads
  if (at >= int64_t{p.batch} * p.heads * p.seq_q) return;
  const int row = static_cast<int>(at % p.seq_q);
  const int64_t batch = at / p.seq_q / p.heads, head = at / p.seq_q % p.heads;
  const T* q = p.q + p.of_q.at(batch, head, row);
  const T* dout = p.dout + p.of_o.at(batch, head, row);
  const int64_t of = at / p.seq_q * rows.pitch + row;
  const float lse = rows.lse[of], row_d = rows.d[of];
  const int keys = days::visible_keys(p.causal, row, p.seq_q, p.seq_k);
  float dq[kDim] = {};
  for (int key = 0; key < keys; ++key) {
    const int64_t its = p.of_kv.at(batch, head / (p.heads / p.kv_heads), key);
    const T* k = p.k + its;
    const float weight = expf(dot(q, k, kDim) * p.scale - lse);
    const float ds = weight * (dot(dout, p.v + its, kDim) - row_d);
#pragma unroll
    for (int d = 0; d < kDim; ++d) dq[d] = fmaf(ds, days::to_float(k[d]), dq[d]);
  }
  T* to = p.dq + p.of_q.at(batch, head, row);
#pragma unroll
  for (int d = 0; d < kDim; ++d) to[d] = days::from_float<T>(dq[d] * p.scale);
}

}  // namespace

template <class T>
void backward_naive(const AttentionBackward<T>& p, cudaStream_t stream) {
  days::require_attention_backward(p, "naive");
  require_workspace(p, "naive", rows_workspace(p));
  const auto blocks = [&](int heads, int seq) {
    const int64_t count = days::ceil_div(int64_t{p.batch} * heads * seq, int64_t{kThreads});
    days::require(count <= days::kMaxGridX, "naive: a grid has at most 2147483647 blocks, not", count);
    return static_cast<unsigned>(count);
  };
  const unsigned of_keys = blocks(p.kv_heads, p.seq_k), of_queries = blocks(p.heads, p.seq_q);
  const RowData rows = launch_rows(p, 1, stream);
  for_dim(p.dim, [&](auto dim) {
    keys_kernel<T, dim><<<of_keys, kThreads, 0, stream>>>(p, rows);
    CUDA_CHECK_LAUNCH();
    queries_kernel<T, dim><<<of_queries, kThreads, 0, stream>>>(p, rows);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(backward_naive, AttentionBackward, float, days::half, days::bf16);

}  // namespace day47
