// SPDX-License-Identifier: MIT
//
// What tensor cores leave of pairs of queries and keys in a warp's registers, from scores to weights and dS; and how sums leave.
#pragma once

#include <cstdint>

#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"

namespace day47 {

// Of this lane's two queries of 8 x 8 pairs: queries are columns where keys stay, else rows g and g + 8. lse is in units
// of log2(e).
struct TwoRows {
  float lse[2], d[2];
};

// 16 rows by 8 * kN columns: scores become weights, 2^(scale * score - lse), and products of dout and v become dS.
// Where keys stay, rows are keys from `key` on and columns queries from `query` on, else the other way round. rows(n)
// gives the queries' numbers. What a query does not see is 0 in both where `masked`, whatever was computed there: the
// score of a key that is not there may be far above lse.
template <bool kKeysStay, class T, int kN, class Rows>
__device__ __forceinline__ void weigh(float (&score)[kN][4], float (&of_value)[kN][4],
                                      const AttentionBackward<T>& p, float scale, int query, int key,
                                      bool masked, const Rows& rows) {
#pragma unroll
  for (int n = 0; n < kN; ++n) {
    const TwoRows two = rows(n);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int which = kKeysStay ? i % 2 : i / 2;
      score[n][i] = days::ptx::ex2_approx_ftz(fmaf(score[n][i], scale, -two.lse[which]));
      of_value[n][i] = score[n][i] * (of_value[n][i] - two.d[which]);
    }
  }
  if (!masked) return;
  using days::attention::lane_col, days::attention::lane_row;
#pragma unroll
  for (int n = 0; n < kN; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane_row() + i / 2 * 8, col = n * 8 + lane_col() + i % 2;
      if (key + (kKeysStay ? row : col) <
          days::visible_keys(p.causal, query + (kKeysStay ? col : row), p.seq_q, p.seq_k))
        continue;
      score[n][i] = of_value[n][i] = 0;
    }
  }
}

// Writes 16 rows of sums, times `factor`, to rows row ... of `count` rows `pitch` apart, by way of 16 rows of a tile, from
// `place` on, that no other warp uses: whole rows leave in 16 bytes a lane.
template <class T, int kD, class Tile>
__device__ __forceinline__ void store_sums(const float (&sums)[kD][4], float factor, Tile& tile, int place,
                                           T* to, int64_t pitch, int row, int count) {
  using namespace days::attention;
  __syncwarp();  // all lanes have read what was there
#pragma unroll
  for (int d = 0; d < kD; ++d) {
    T* const at = tile.at(place + lane_row(), d) + lane_col();
    *reinterpret_cast<uint32_t*>(at) = pack<T>(sums[d][0] * factor, sums[d][1] * factor);
    *reinterpret_cast<uint32_t*>(at + 8 * Tile::kDim) = pack<T>(sums[d][2] * factor, sums[d][3] * factor);
  }
  __syncwarp();  // all have written
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int i = 0; i < 16 * Tile::kChunks; i += days::kWarpSize) {
    const int down = (i + lane) / Tile::kChunks, chunk = (i + lane) % Tile::kChunks;
    if (row + down < count) {
      *reinterpret_cast<uint4*>(to + (row + down) * pitch + chunk * kChunk) =
          *reinterpret_cast<const uint4*>(tile.at(place + down, chunk));
    }
  }
}

}  // namespace day47
