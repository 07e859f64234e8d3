// SPDX-License-Identifier: MIT
// One row's step of the gradients in registers, and the sums over rows that a thread keeps for its columns: what
// grad_registers and grad_async have in common. They differ in when a row is loaded.
#pragma once

#include <algorithm>
#include <type_traits>

#include "common/check.h"
#include "common/sum_partials.cuh"
#include "common/util.h"
#include "day12_layer_norm/columns.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {

// The two sums over a row that dx needs, of some of its columns.
struct RowSums {
  float g, gx;
};
template <int kLanes>
__device__ inline RowSums sum_lanes(RowSums mine) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    mine.g += __shfl_xor_sync(days::kFullWarp, mine.g, distance);
    mine.gx += __shfl_xor_sync(days::kFullWarp, mine.gx, distance);
  }
  return mine;
}

inline constexpr int kGradElements = 8;  // of a row, a thread

// Threads that a row of up to kMaxColsPersistent is spread over, and threads of a block, which has one row or, of
// short ones, several.
constexpr int grad_threads(int cols) {
  int threads = 8;
  while (threads * kGradElements < cols) threads *= threads < 128 ? 4 : 2;
  return threads;
}
constexpr int grad_block(int threads) {
  return threads <= days::kWarpSize ? 256 : threads;
}

// Threads that a multiprocessor holds at once: with 64 registers each, all that it has.
inline constexpr int kGradResident = 1024;

// Blocks that are launched, each of which leaves one line of partial sums: as many as the GPU holds at once, but
// none without a row.
inline int grad_blocks(int rows, int cols) {
  const int threads = grad_threads(cols), block = grad_block(threads);
  return std::min(days::ceil_div(rows, block / threads), days::multiprocessors() * (kGradResident / block));
}

// The workspace as lines of partial sums, one a block, (2, cols) each. Throws where it is too small or cols too
// large.
template <class T>
float* grad_lines(const LayerNormBackward<T>& p, const char* variant) {
  days::require_needs(p, variant, kColsOfPersistent);
  const size_t needed = grad_workspace(p.rows, p.cols);
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<float*>(p.workspace.data);
}

// A thread's columns: gamma, and dgamma and dbeta of the rows that it has seen.
template <class T, int kThreads, bool kWide>
struct GradColumns {
  using Row = Share<T, kThreads, kGradElements, kWide>;
  static constexpr int kBlock = grad_block(kThreads), kRows = kBlock / kThreads;
  static constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  static constexpr int kWarps = kBlock / days::kWarpSize;

  float dgamma[kGradElements] = {}, dbeta[kGradElements] = {};

  // Makes dx of a row from the thread's part of x and dy. All threads of the block must call it, with an `odd` that
  // changes from call to call. Where x and dy are 0, as beyond a row's end, they add nothing.
  __device__ void row(const Row& gamma, const Row& x, const Row& dy, float mean, float rstd, float scale,
                      bool odd, float (&dx)[kGradElements]) {
    float xhat[kGradElements];
    RowSums sums = {0, 0};
#pragma unroll
    for (int i = 0; i < kGradElements; ++i) {
      xhat[i] = (x[i] - mean) * rstd;
      dgamma[i] += dy[i] * xhat[i];
      dbeta[i] += dy[i];
      dx[i] = dy[i] * gamma[i];  // g, so far
      sums.g += dx[i];
      sums.gx += dx[i] * xhat[i];
    }
    sums = sum_lanes<kLanes>(sums);
    if constexpr (kThreads > days::kWarpSize) {
      // Warps that are ahead write the other half, and are held by its barrier until all have read this one.
      __shared__ RowSums of_warp[2][kWarps];
      const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
      if (lane == 0) of_warp[odd][threadIdx.x / days::kWarpSize] = sums;
      __syncthreads();
      sums = sum_lanes<kWarps>(of_warp[odd][lane % kWarps]);
    }
#pragma unroll
    for (int i = 0; i < kGradElements; ++i)
      dx[i] = rstd * (dx[i] - sums.g * scale - xhat[i] * (sums.gx * scale));
  }

  // Writes the block's line of partial sums, (2, cols).
  __device__ void write(float* line, int thread, int cols) {
    if constexpr (kRows == 1) {
      store(line, dgamma, thread, cols);
      store(line + cols, dbeta, thread, cols);
    } else {
      // The rows of a warp by exchange, then those of the warps by way of shared memory.
      for (int distance = kThreads; distance < days::kWarpSize; distance *= 2) {
#pragma unroll
        for (int i = 0; i < kGradElements; ++i) {
          dgamma[i] += __shfl_xor_sync(days::kFullWarp, dgamma[i], distance);
          dbeta[i] += __shfl_xor_sync(days::kFullWarp, dbeta[i], distance);
        }
      }
      __shared__ float of_warp[kWarps][2][kThreads * kGradElements];
      const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
      auto& mine = of_warp[threadIdx.x / days::kWarpSize];
      if (lane < kThreads) {
#pragma unroll
        for (int i = 0; i < kGradElements; ++i) {
          const int col = Row::first(i / Row::kWidth, thread) + i % Row::kWidth;
          mine[0][col] = dgamma[i];
          mine[1][col] = dbeta[i];
        }
      }
      __syncthreads();
      for (int i = threadIdx.x; i < 2 * cols; i += kBlock) {
        const int which = i >= cols, col = i - which * cols;
        float sum = 0;
        for (int warp = 0; warp < kWarps; ++warp) sum += of_warp[warp][which][col];
        line[i] = sum;
      }
    }
  }

 private:
  // Four columns at once where groups have as many: rows of whole vectors begin at whole vectors here, too.
  __device__ static void store(float* line, const float (&value)[kGradElements], int thread, int cols) {
#pragma unroll
    for (int i = 0; i < kGradElements; i += kWide ? 4 : 1) {
      const int col = Row::first(i / Row::kWidth, thread) + i % Row::kWidth;
      if (col >= cols) continue;
      if constexpr (kWide) {
        days::store16(line + col, days::Vec<float>{{value[i], value[i + 1], value[i + 2], value[i + 3]}});
      } else {
        line[col] = value[i];
      }
    }
  }
};

// launch(threads, wide), std::integral_constants, for rows of so many columns.
template <class Launch>
void for_grad_threads(int cols, bool wide, const Launch& launch) {
  const auto with = [&](auto threads) {
    if (wide) return launch(threads, std::true_type{});
    launch(threads, std::false_type{});
  };
  switch (grad_threads(cols)) {
    case 8:
      return with(std::integral_constant<int, 8>{});
    case 32:
      return with(std::integral_constant<int, 32>{});
    case 128:
      return with(std::integral_constant<int, 128>{});
    case 256:
      return with(std::integral_constant<int, 256>{});
    case 512:
      return with(std::integral_constant<int, 512>{});
    default:
      return with(std::integral_constant<int, 1024>{});
  }
}

}  // namespace day12
