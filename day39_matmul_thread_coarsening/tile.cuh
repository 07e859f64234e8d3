// SPDX-License-Identifier: MIT
//
// Day 39: what a block of autotuned's kernel does, for any tiling; rung autotuned and the tuner's candidates are
// kernels around it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/problems/gemm.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/tiling.h"
#include "day39_matmul_thread_coarsening/vectors.cuh"

namespace day39 {

template <Tiling kTiling>
struct Tiles {
  float a[kTiling.stages][kTiling.block_k][kTiling.pitch_a()];  // a's tiles, transposed
  float b[kTiling.stages][kTiling.block_k][kTiling.pitch_b()];
};

// What one thread copies of a matrix's tiles, kExtent rows of op(a) (columns of op(b)) and kDepth steps of k, to
// tile[depth][extent]. Where a matrix lies along its extent, lanes copy neighbours, 16 bytes each if they are aligned;
// where it lies along k, a warp copies 8 floats of k of each of 4 rows, and so transposes it.
template <int kExtent, int kDepth, int kThreads>
class Copies {
  static constexpr int kPitch = kExtent + 4;

 public:
  // `start`: the first row of the block's part; `extent`: rows that exist from there.
  __device__ Copies(const float* matrix, int64_t pitch, bool along_k, int64_t start, int64_t extent)
      : pitch_(pitch), along_k_(along_k) {
    vectors_ = !along_k && pitch % 4 == 0 && days::aligned16(matrix);
    const int thread = static_cast<int>(threadIdx.x);
    const int across = vectors_ ? kAcross<4> : kAcross<1>;
    depth_ = along_k ? thread % 8 : thread / across;
    first_ = along_k ? thread / 8 : thread % across * (vectors_ ? 4 : 1);
    extent_ = static_cast<int>(extent < kExtent ? extent : kExtent);
    from_ = matrix + (along_k ? (start + first_) * pitch + depth_ : depth_ * pitch + start + first_);
  }

  // Starts to copy the next tile, of which `left` steps of k exist; what does not exist becomes 0.
  __device__ __forceinline__ void start(float* tile, int left) {
    const bool whole = left >= kDepth && extent_ == kExtent;
    float* to = tile + depth_ * kPitch + first_;
    if (along_k_) {
      whole ? deep<true>(to, left) : deep<false>(to, left);
      from_ += kDepth;
    } else {
      if (vectors_) {
        whole ? wide<4, true>(to, left) : wide<4, false>(to, left);
      } else {
        whole ? wide<1, true>(to, left) : wide<1, false>(to, left);
      }
      from_ += kDepth * pitch_;
    }
  }

 private:
  template <int kWidth>
  static constexpr int kAcross = kThreads < kExtent / kWidth ? kThreads : kExtent / kWidth;

  template <bool kWhole>
  __device__ __forceinline__ void deep(float* to, int left) const {
    constexpr int kApart = kThreads / 8;  // rows
    const float* from = from_;
#pragma unroll
    for (int i = 0; i < kExtent; i += kApart, from += kApart * pitch_) {
#pragma unroll
      for (int d = 0; d < kDepth; d += 8) {
        const bool there = kWhole || (first_ + i < extent_ && depth_ + d < left);
        days::ptx::cp_async_ca<4>(to + d * kPitch + i, from + d, there ? 4 : 0);
      }
    }
  }
  template <int kWidth, bool kWhole>
  __device__ __forceinline__ void wide(float* to, int left) const {
    constexpr int kRows = kThreads / kAcross<kWidth>;
    const float* from = from_;
#pragma unroll
    for (int d = 0; d < kDepth; d += kRows, from += kRows * pitch_) {
#pragma unroll
      for (int i = 0; i < kExtent; i += kWidth * kAcross<kWidth>) {
        const int there = kWhole ? kWidth : depth_ + d < left ? extent_ - first_ - i : 0;
        const uint32_t bytes = there >= kWidth ? 4 * kWidth
                               : there > 0     ? static_cast<uint32_t>(4 * there)
                                               : 0;
        if constexpr (kWidth == 4) {
          days::ptx::cp_async_cg(to + d * kPitch + i, from + i, bytes);
        } else {
          days::ptx::cp_async_ca<4>(to + d * kPitch + i, from + i, bytes);
        }
      }
    }
  }

  const float* from_;  // this thread's first float of the next tile
  int64_t pitch_;
  int first_, depth_;  // where it is in a tile
  int extent_;
  bool along_k_, vectors_;
};

// The block's row and column of blocks. Eight rows of blocks go together, column after column: the blocks that run at
// the same time then lie in a rectangle, and ask for less of a and b than a long row of them would.
template <Tiling kTiling>
__device__ inline int2 place_of_block(int m, int n) {
  constexpr unsigned kTogether = 8;
  const unsigned down = static_cast<unsigned>(days::ceil_div(m, kTiling.block_m));
  const unsigned across = static_cast<unsigned>(days::ceil_div(n, kTiling.block_n));
  const unsigned band = blockIdx.x / (kTogether * across), within = blockIdx.x % (kTogether * across);
  const unsigned rows = min(kTogether, down - band * kTogether);
  return make_int2(static_cast<int>(band * kTogether + within % rows), static_cast<int>(within / rows));
}

template <Tiling kTiling>
__device__ __forceinline__ void gemm_block(const days::Gemm<float>& p, Tiles<kTiling>& tiles) {
  constexpr int kRows = kTiling.thread_m, kCols = kTiling.thread_n;
  constexpr int kRowLanes = kTiling.warp_m / kRows, kColLanes = kTiling.warp_n / kCols;
  constexpr int kDepth = kTiling.block_k, kStages = kTiling.stages, kThreads = kTiling.threads();
  const int2 place = place_of_block<kTiling>(p.m, p.n);
  const int64_t row0 = int64_t{place.x} * kTiling.block_m, col0 = int64_t{place.y} * kTiling.block_n;

  // Lane pairs 0 and 1, and 2 and 3, share their rows, lanes 0 and 2, and 1 and 3, their columns.
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize, lane = threadIdx.x % days::kWarpSize;
  const int lane_row = lane / 2 % 2 + lane / 4 / (kColLanes / 2) * 2;
  const int lane_col = lane % 2 + lane / 4 % (kColLanes / 2) * 2;
  constexpr int kWarpsAcross = kTiling.block_n / kTiling.warp_n;
  const int row = warp / kWarpsAcross * kTiling.warp_m + 4 * lane_row;
  const int col = warp % kWarpsAcross * kTiling.warp_n + 4 * lane_col;
  const bool busy = row0 + warp / kWarpsAcross * kTiling.warp_m < p.m &&
                    col0 + warp % kWarpsAcross * kTiling.warp_n < p.n;  // a whole warp is, or is not

  Copies<kTiling.block_m, kDepth, kThreads> a(p.a, p.lda, p.op_a == days::Op::kN, row0, p.m - row0);
  Copies<kTiling.block_n, kDepth, kThreads> b(p.b, p.ldb, p.op_b == days::Op::kT, col0, p.n - col0);
  int ahead = 0, left = p.k;  // where the next tile goes, and what is left of k for it
  const auto fetch = [&] {
    if (left > 0) {
      a.start(tiles.a[ahead][0], left);
      b.start(tiles.b[ahead][0], left);
    }
    days::ptx::cp_async_commit_group();  // an empty one, too, so that a group is a tile
    left -= kDepth;
    ahead = ahead + 1 == kStages ? 0 : ahead + 1;
  };

  float sums[kRows][kCols] = {};
#pragma unroll 1
  for (int i = 0; i < kStages - 1; ++i) fetch();
  for (int k0 = 0, stage = 0; k0 < p.k; k0 += kDepth, stage = stage + 1 == kStages ? 0 : stage + 1) {
    days::ptx::cp_async_wait_group<kStages - 2>();
    __syncthreads();  // everybody's copies have landed, and the tile before this one is free
    fetch();
    if (!busy) continue;
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kRows], y[kCols];
#pragma unroll
      for (int r = 0; r < kRows; r += 4) store4(x + r, load4(&tiles.a[stage][i][row + r * kRowLanes]));
#pragma unroll
      for (int s = 0; s < kCols; s += 4) store4(y + s, load4(&tiles.b[stage][i][col + s * kColLanes]));
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int s = 0; s < kCols; ++s) sums[r][s] += x[r] * y[s];
      }
    }
  }
  if (!busy) return;  // nothing is under way any more: the last groups are empty

  const bool vectors = p.ldc % 4 == 0 && days::aligned16(p.c);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int64_t to_row = row0 + row + r / 4 * 4 * kRowLanes + r % 4;
    if (to_row >= p.m) continue;
#pragma unroll
    for (int s = 0; s < kCols; s += 4) {
      const int64_t to_col = col0 + col + s * kColLanes;
      float* to = p.c + p.at_c(to_row, to_col);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[r][s + i] *= p.alpha;
        if (p.beta != 0.0f && to_col + i < p.n) sums[r][s + i] += p.beta * to[i];  // else c is not read
      }
      if (vectors && to_col + 4 <= p.n) {
        store4_streaming(to, &sums[r][s]);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (to_col + i < p.n) to[i] = sums[r][s + i];
      }
    }
  }
}

}  // namespace day39
