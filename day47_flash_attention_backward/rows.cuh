// SPDX-License-Identifier: MIT
//
// What a backward pass needs of each query besides its row: its lse, and D, the sum of dout * o over the row. A kernel of its
// own writes both to the workspace, because all blocks that look at the query want them.
#pragma once

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"

namespace day47 {

struct RowData {
  float *lse, *d;  // (batch * heads, pitch)
  int64_t pitch;
};

namespace detail {

inline constexpr int kRowsThreads = 256;

// A warp a query. Rows beyond the last, and those of queries without keys, whose lse is -infinity, get +infinity and 0:
// e^(score - infinity) is 0 for every score, so that nobody has to ask. `unit` is what lse is multiplied by.
template <class T, int kDim>
__global__ void rows_kernel(const AttentionBackward<T> p, RowData rows, float unit) {
  const int64_t warps = int64_t{gridDim.x} * (kRowsThreads / days::kWarpSize);
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int64_t count = int64_t{p.batch} * p.heads * rows.pitch;
  for (int64_t at = (int64_t{blockIdx.x} * kRowsThreads + threadIdx.x) / days::kWarpSize; at < count;
       at += warps) {
    const int row = static_cast<int>(at % rows.pitch);
    const int64_t head = at / rows.pitch;
    float sum = 0, lse = -INFINITY;
    if (row < p.seq_q) {
      const int64_t from = p.of_o.at(head / p.heads, head % p.heads, row);
#pragma unroll
      for (int d = lane; d < kDim; d += days::kWarpSize)
        sum = fmaf(days::to_float(p.dout[from + d]), days::to_float(p.o[from + d]), sum);
      lse = p.lse[head * p.seq_q + row];
    }
    for (int distance = days::kWarpSize / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0) {
      rows.lse[at] = lse == -INFINITY ? INFINITY : lse * unit;
      rows.d[at] = sum;
    }
  }
}

}  // namespace detail

// Launches the kernel; what it writes lies at the beginning of the workspace.
template <class T>
RowData launch_rows(const AttentionBackward<T>& p, float unit, cudaStream_t stream) {
  const int64_t pitch = rows_pitch(p), count = int64_t{p.batch} * p.heads * pitch;
  float* const at = static_cast<float*>(p.workspace.data);
  const RowData rows{at, at + count, pitch};
  const int64_t blocks = days::ceil_div(count, int64_t{detail::kRowsThreads / days::kWarpSize});
  const unsigned grid = static_cast<unsigned>(blocks < days::kMaxGridX ? blocks : days::kMaxGridX);
  for_dim(p.dim, [&](auto dim) {
    detail::rows_kernel<T, dim><<<grid, detail::kRowsThreads, 0, stream>>>(p, rows, unit);
    CUDA_CHECK_LAUNCH();
  });
  return rows;
}

// What every launcher checks besides.
template <class T>
void require_workspace(const AttentionBackward<T>& p, const char* variant, size_t bytes) {
  days::require(p.workspace.bytes >= bytes, variant, ": needs a workspace of", bytes, "bytes, has",
                p.workspace.bytes);
}

}  // namespace day47
