// SPDX-License-Identifier: MIT
//
// A warp with keys as the rows and queries as the columns of its products. 04_columns.cu takes it apart.
#pragma once

#include <cstdint>

#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/problems/decode.h"
#include "common/ptx.h"
#include "common/util.h"

namespace day50 {

inline constexpr int kColumns = 8;  // of a product: queries
inline constexpr int kSlice = 16;   // of a product: keys
inline constexpr int kColumnPad =
    4;  // floats behind a row of Parts: a warp's four columns begin eight banks apart

// kTiles times 8 queries against one slice of keys after the other. Of a product's columns a lane has 2 * (lane % 4)
// and the next one.
template <class T, int kDim, int kTiles>
struct Columns {
  static constexpr int kSteps = kDim / 16;
  uint32_t q[kTiles][kSteps][2];
  float o[kTiles][kSteps][4] = {};  // rows of a product: elements of o; columns: queries
  float most[kTiles][2], sum[kTiles][2];

  // The block's queries; columns of others are 0, and nobody stores what becomes of them.
  template <class Block>
  __device__ __forceinline__ Columns(const days::Decode<T>& p, const Block& mine) {
    const int column = days::attention::lane_row(), d = days::attention::lane_col();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int h = tile * kColumns + column;
      const T* const from = mine.query(p, h) + d;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          q[tile][step][i] =
              h < mine.heads ? *reinterpret_cast<const uint32_t*>(from + step * 16 + i * 8) : 0;
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        most[tile][i] = -INFINITY;
        sum[tile][i] = 0;
      }
    }
  }

  // Scores of a slice become weights. `keys` of its keys are there; `scale` is that of the scores, times log2(e).
  __device__ __forceinline__ void softmax(float (&scores)[kTiles][4], int keys, float scale) {
    const int key = days::attention::lane_row();
    float tallest[kTiles][2];
    bool grows = false;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (key >= keys) scores[tile][i] = -INFINITY;
        if (key + 8 >= keys) scores[tile][i + 2] = -INFINITY;
        float m = fmaxf(scores[tile][i], scores[tile][i + 2]);
#pragma unroll
        for (int away = 4; away < days::kWarpSize; away *= 2)  // the lanes that share a column
          m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, away));
        tallest[tile][i] = m;
        grows |= m > most[tile][i];
      }
    }
    if (__any_sync(0xffffffffu, grows)) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (!(tallest[tile][i] > most[tile][i])) continue;
          const float shrink = days::ptx::ex2_approx_ftz((most[tile][i] - tallest[tile][i]) * scale);
          most[tile][i] = tallest[tile][i];
          sum[tile][i] *= shrink;
#pragma unroll
          for (int step = 0; step < kSteps; ++step) {
            o[tile][step][i] *= shrink;
            o[tile][step][i + 2] *= shrink;
          }
        }
      }
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        // A column without a key so far has scores of -infinity, and -inf - 0 is well defined.
        const float from = most[tile][i] == -INFINITY ? 0 : most[tile][i] * scale;
#pragma unroll
        for (int row = i; row < 4; row += 2) {
          scores[tile][row] = days::ptx::ex2_approx_ftz(fmaf(scores[tile][row], scale, -from));
          sum[tile][i] += scores[tile][row];
        }
      }
    }
  }

  // Adds a slice of keys: rows `row` ... of the tiles k and v, zeros beyond the `keys` that are there.
  template <class Tile>
  __device__ __forceinline__ void add(Tile& k, Tile& v, int row, int keys, float scale) {
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
    float scores[kTiles][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      uint32_t a[4];
      days::attention::load_left(a, k, row, step);
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        days::attention::mma<T>(scores[tile], a, q[tile][step][0], q[tile][step][1]);
    }
    softmax(scores, keys, scale);
    uint32_t weights[kTiles][2];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        weights[tile][i] = days::ptx::movmatrix_trans(
            days::attention::pack<T>(scores[tile][2 * i], scores[tile][2 * i + 1]));
      }
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      uint32_t a[4];
      days::ptx::ldmatrix<true>(a, v.at(row + lane / 16 * 8 + lane % 8, lane / 8 % 2, 2 * step));
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        days::attention::mma<T>(o[tile][step], a, weights[tile][0], weights[tile][1]);
    }
  }

  // To part `part`: of each column the sums of all lanes that share it.
  template <class Parts>
  __device__ __forceinline__ void put(Parts& parts, int part, float scale) {
    const int d = days::attention::lane_row();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int h = tile * kColumns + days::attention::lane_col() + i;
#pragma unroll
        for (int away = 4; away < days::kWarpSize; away *= 2)
          sum[tile][i] += __shfl_xor_sync(0xffffffffu, sum[tile][i], away);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          parts.o[part][h][step * 16 + d] = o[tile][step][i];
          parts.o[part][h][step * 16 + d + 8] = o[tile][step][i + 2];
        }
        if (d == 0) {
          parts.most[part][h] = most[tile][i] * scale;
          parts.sum[part][h] = sum[tile][i];
        }
      }
    }
  }
};

// How many tiles of columns a group needs, at most two, as a compile-time constant: calls launch(std::integral_constant<int,
// 1 or 2>). Of a larger group several blocks read the keys.
template <class T, class Launch>
void for_tiles(const days::Decode<T>& p, const char* variant, const Launch& launch) {
  days::require_decode(p, variant);
  if (p.heads / p.kv_heads <= kColumns) return launch(std::integral_constant<int, 1>{});
  return launch(std::integral_constant<int, 2>{});
}

}  // namespace day50
