// SPDX-License-Identifier: MIT
//
// The softmax of a warp's scores, in the registers in which mma leaves them (tensor.cuh). Day 43
// takes it apart.
#pragma once

#include <cstdint>

#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/util.h"

namespace days::attention {

inline constexpr float kLog2E = 1.4426950408889634f;

// Of rows g and g + 8 of 16 queries: the score against which weights are taken, the largest so far or not
// much less, and this lane's share of the sum of the weights.
struct RowState {
  float most[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};
};

__device__ __forceinline__ int lane_row() {
  return static_cast<int>(threadIdx.x) % days::kWarpSize / 4;
}
__device__ __forceinline__ int lane_col() {
  return static_cast<int>(threadIdx.x) % 4 * 2;
}

// Scores of keys that a query does not see become -infinity. `row` is the first of the 16 queries and `key`
// the first of the keys.
template <class T, int kN>
__device__ __forceinline__ void mask(float (&scores)[kN][4], const Attention<T>& p, int row, int key) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int seen =
        days::visible_keys(p.causal, row + lane_row() + 8 * half, p.seq_q, p.seq_k) - key - lane_col();
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      if (n * 8 >= seen) scores[n][2 * half] = -INFINITY;
      if (n * 8 + 1 >= seen) scores[n][2 * half + 1] = -INFINITY;
    }
  }
}

// Scores become weights, 2^(scale * (score - most)) with scale = p.scale * log2(e): one multiply-add and one
// instruction for 2^x. Where a row's reference point has to grow, its o and sum shrink. It grows only for a
// score that is more than `slack` above it, so that weights stay below 2^(scale * slack), and the warp skips
// the shrinking unless a row needs it.
template <int kN, int kD>
__device__ __forceinline__ void online_softmax(float (&scores)[kN][4], RowState& rows, float (&o)[kD][4],
                                               float scale, float slack) {
  float most[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float m = fmaxf(scores[0][2 * half], scores[0][2 * half + 1]);
#pragma unroll
    for (int n = 1; n < kN; ++n) m = fmaxf(m, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));  // the four lanes that share a row
    most[half] = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
  }
  if (__any_sync(0xffffffffu, most[0] > rows.most[0] + slack || most[1] > rows.most[1] + slack)) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!(most[half] > rows.most[half])) continue;
      const float shrink = days::ptx::ex2_approx_ftz((rows.most[half] - most[half]) * scale);
      rows.most[half] = most[half];
      rows.sum[half] *= shrink;
#pragma unroll
      for (int d = 0; d < kD; ++d) {
        o[d][2 * half] *= shrink;
        o[d][2 * half + 1] *= shrink;
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has seen no key yet: all its scores are -infinity, and -inf - 0 is well defined.
    const float from = rows.most[half] == -INFINITY ? 0 : rows.most[half] * scale;
#pragma unroll
    for (int n = 0; n < kN; ++n) {
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        scores[n][i] = days::ptx::ex2_approx_ftz(fmaf(scores[n][i], scale, -from));
        rows.sum[half] += scores[n][i];
      }
    }
  }
}

// The end of 16 queries from `row` on: lse is written, and 1 over the sum of weights returned, of rows g and
// g + 8.
template <class T>
__device__ __forceinline__ float2 finish_rows(const Attention<T>& p, int64_t head, int row,
                                              const RowState& rows) {
  float inverse[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.sum[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    inverse[half] = sum == 0 ? 0 : 1 / sum;
    const int at = row + lane_row() + 8 * half;
    if (at < p.seq_q && lane_col() == 0) p.lse[head * p.seq_q + at] = rows.most[half] * p.scale + logf(sum);
  }
  return {inverse[0], inverse[1]};
}

// Writes o over the sum of weights, 4 bytes a lane: of each 8 columns half a sector a row.
template <class T, int kD>
__device__ __forceinline__ void store_rows(const Attention<T>& p, int64_t head, int row,
                                           const float (&o)[kD][4], const RowState& rows) {
  const float2 inverse = finish_rows(p, head, row, rows);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int at = row + lane_row() + 8 * half;
    if (at >= p.seq_q) continue;
    T* const out = p.o + (head * p.seq_q + at) * (8 * kD) + lane_col();
    const float factor = half == 0 ? inverse.x : inverse.y;
#pragma unroll
    for (int d = 0; d < kD; ++d) {
      *reinterpret_cast<uint32_t*>(out + 8 * d) =
          pack<T>(o[d][2 * half] * factor, o[d][2 * half + 1] * factor);
    }
  }
}

// The same by way of 16 rows of a tile, from `place` on, that no other warp uses: whole rows leave in 16
// bytes a lane.
template <class T, int kD, class Tile>
__device__ __forceinline__ void store_rows(const Attention<T>& p, int64_t head, int row,
                                           const float (&o)[kD][4], const RowState& rows, Tile& tile,
                                           int place) {
  const float2 inverse = finish_rows(p, head, row, rows);
  __syncwarp();  // all lanes have read what was there
#pragma unroll
  for (int d = 0; d < kD; ++d) {
    T* const at = tile.at(place + lane_row(), d) + lane_col();
    *reinterpret_cast<uint32_t*>(at) = pack<T>(o[d][0] * inverse.x, o[d][1] * inverse.x);
    *reinterpret_cast<uint32_t*>(at + 8 * Tile::kDim) = pack<T>(o[d][2] * inverse.y, o[d][3] * inverse.y);
  }
  __syncwarp();  // all have written
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int i = 0; i < 16 * Tile::kChunks; i += days::kWarpSize) {
    const int down = (i + lane) / Tile::kChunks, chunk = (i + lane) % Tile::kChunks;
    if (row + down < p.seq_q) {
      *reinterpret_cast<uint4*>(p.o + (head * p.seq_q + row + down) * Tile::kDim + chunk * kChunk) =
          *reinterpret_cast<const uint4*>(tile.at(place + down, chunk));
    }
  }
}

}  // namespace days::attention
