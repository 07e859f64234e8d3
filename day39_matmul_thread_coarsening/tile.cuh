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

// A copy of a tile in pieces, so that a thread can begin one here and one there between its multiply-adds. Where a matrix lies
// along its extent (rows of op(a), columns of op(b)), lanes copy neighbours, 16 bytes each; where it lies along k, a warp copies
// 8 floats of k of each of 4 rows, and so transposes it, to tile[depth][extent].
// Of blocks that lie in c as a whole, and a k of whole tiles: nothing has to be asked but whether the tile exists.
template <int kExtent, int kDepth, int kThreads, bool kAlongK>
class WholeCopies {
  static constexpr int kPitch = kExtent + 4;
  static constexpr int kLanes = kAlongK ? kThreads / 8 : kThreads < kExtent / 4 ? kThreads : kExtent / 4;
  static constexpr int kDepths = kAlongK ? 8 : kThreads / kLanes;  // of k, at a time
  static constexpr int kExtents = kAlongK ? kLanes : 4 * kLanes;   // of the extent, at a time
  static constexpr int kDeep = kDepth / kDepths;                   // pieces along k

 public:
  static constexpr bool kWhole = true;
  static constexpr int kPieces = kDeep * (kExtent / kExtents);

  // `start`: the first row of the block's part.
  __device__ WholeCopies(const float* matrix, int64_t pitch, int64_t start)
      : pitch_(pitch),
        depth_(static_cast<int>(threadIdx.x) / (kAlongK ? 1 : kLanes) % kDepths),
        first_(kAlongK ? static_cast<int>(threadIdx.x) / 8 : static_cast<int>(threadIdx.x) % kLanes * 4),
        from_(matrix + (kAlongK ? (start + first_) * pitch + depth_ : depth_ * pitch + start + first_)) {}

  // Starts to copy piece i of the next tile; zeros where `left`, what there is of k for it, is 0.
  __device__ __forceinline__ void piece(int i, float* tile, int left) const {
    const int d = i % kDeep * kDepths, e = i / kDeep * kExtents;
    float* to = tile + (depth_ + d) * kPitch + first_ + e;
    if constexpr (kAlongK) {
      days::ptx::cp_async_ca<4>(to, from_ + e * pitch_ + d, left > 0 ? 4 : 0);
    } else {
      days::ptx::cp_async_cg(to, from_ + d * pitch_ + e, left > 0 ? 16 : 0);
    }
  }
  __device__ __forceinline__ void advance() { from_ += kAlongK ? kDepth : kDepth * pitch_; }

 private:
  int64_t pitch_;
  int depth_, first_;  // where this thread is in a tile
  const float* from_;  // its first float of the next tile
};

// The same of any block, any k and any alignment: what does not exist becomes 0. A tile is one piece, whose loops stay loops:
// unrolled, they would take registers that WholeCopies' loop in the same kernel would then lack.
template <int kExtent, int kDepth, int kThreads>
class AnyCopies {
  static constexpr int kPitch = kExtent + 4;

 public:
  static constexpr bool kWhole = false;
  static constexpr int kPieces = 1;

  // `start`: the first row of the block's part; `extent`: rows that exist from there.
  __device__ AnyCopies(const float* matrix, int64_t pitch, bool along_k, int64_t start, int64_t extent)
      : pitch_(pitch), along_k_(along_k) {
    vectors_ = !along_k && pitch % 4 == 0 && days::aligned16(matrix);
    const int thread = static_cast<int>(threadIdx.x);
    const int across = vectors_ ? kAcross<4> : kAcross<1>;
    depth_ = along_k ? thread % 8 : thread / across;
    first_ = along_k ? thread / 8 : thread % across * (vectors_ ? 4 : 1);
    extent_ = static_cast<int>(extent < kExtent ? extent : kExtent);
    from_ = matrix + (along_k ? (start + first_) * pitch + depth_ : depth_ * pitch + start + first_);
  }

  // Starts to copy the next tile, of which `left` steps of k exist: none of a tile past the last one.
  __device__ __forceinline__ void piece(int, float* tile, int left) const {
    const bool whole = left >= kDepth && extent_ == kExtent;
    float* to = tile + depth_ * kPitch + first_;
    if (along_k_) {
      whole ? deep<true>(to, left) : deep<false>(to, left);
    } else if (vectors_) {
      whole ? wide<4, true>(to, left) : wide<4, false>(to, left);
    } else {
      whole ? wide<1, true>(to, left) : wide<1, false>(to, left);
    }
  }
  __device__ __forceinline__ void advance() { from_ += along_k_ ? kDepth : kDepth * pitch_; }

 private:
  template <int kWidth>
  static constexpr int kAcross = kThreads < kExtent / kWidth ? kThreads : kExtent / kWidth;

  template <bool kWhole>
  __device__ __forceinline__ void deep(float* to, int left) const {
    constexpr int kApart = kThreads / 8;  // rows
    const float* from = from_;
#pragma unroll 1
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
#pragma unroll 1
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

// What a thread multiplies at one step of k: floats of kRows rows and of kCols columns, in groups of four.
template <Tiling kTiling>
struct Fragments {
  static constexpr int kRowsApart = 4 * (kTiling.warp_m / kTiling.thread_m),
                       kColsApart = 4 * (kTiling.warp_n / kTiling.thread_n);
  float x[kTiling.thread_m], y[kTiling.thread_n];

  __device__ __forceinline__ void load(const float* a, const float* b) {
#pragma unroll
    for (int r = 0; r < kTiling.thread_m; r += 4) store4(x + r, load4(a + r / 4 * kRowsApart));
#pragma unroll
    for (int s = 0; s < kTiling.thread_n; s += 4) store4(y + s, load4(b + s / 4 * kColsApart));
  }
  // Down one column of the sums and up the next, so that neighbours share a float.
  __device__ __forceinline__ void multiply(float (&sums)[kTiling.thread_m][kTiling.thread_n]) const {
#pragma unroll
    for (int s = 0; s < kTiling.thread_n; ++s) {
#pragma unroll
      for (int i = 0; i < kTiling.thread_m; ++i) {
        const int r = s % 2 ? kTiling.thread_m - 1 - i : i;
        sums[r][s] += x[r] * y[s];
      }
    }
  }
};

// sums += op(a) * op(b) of the block's part, for the thread whose first row and column there are `row` and `col`. Each step
// of k loads the floats of the next one before it multiplies its own, and begins two pieces of a copy: the loads of the next tile's first step
// stand behind the tile's one barrier and before 128 multiply-adds that need neither. `busy`: the warp has something to do.
template <Tiling kTiling, class A, class B>
__device__ __forceinline__ void multiply_tiles(Tiles<kTiling>& tiles, A a, B b, int k, int row, int col,
                                               bool busy, float (&sums)[kTiling.thread_m][kTiling.thread_n]) {
  constexpr int kDepth = kTiling.block_k, kStages = kTiling.stages, kPieces = A::kPieces + B::kPieces;
  constexpr int kEach =
      kPieces <= 2 * (kDepth - 1) ? 2 : (kPieces + kDepth - 2) / (kDepth - 1);  // pieces a step
  int ahead = 0, left = k;  // where the next tile goes, and what is left of k for it
  const auto copy = [&](int first, int last) {
#pragma unroll
    for (int i = first; i < last && i < kPieces; ++i) {
      i < A::kPieces ? a.piece(i, tiles.a[ahead][0], left) : b.piece(i - A::kPieces, tiles.b[ahead][0], left);
    }
  };
  const auto end_tile = [&] {
    days::ptx::cp_async_commit_group();  // an empty one, too, so that a group is a tile
    left -= kDepth;
    if (left > 0) {
      a.advance();
      b.advance();
    }
    ahead = ahead + 1 == kStages ? 0 : ahead + 1;
  };
#pragma unroll 1
  for (int i = 0; i < kStages - 1; ++i) {
    copy(0, kPieces);
    end_tile();
  }
  days::ptx::cp_async_wait_group<kStages - 2>();
  __syncthreads();
  Fragments<kTiling> fragments[2];
  fragments[0].load(&tiles.a[0][0][row], &tiles.b[0][0][col]);
#pragma unroll 1
  for (int k0 = 0, stage = 0; k0 < k; k0 += kDepth) {
    const int next = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      if (i == kDepth - 1) {
        end_tile();
        days::ptx::cp_async_wait_group<kStages - 2>();
        __syncthreads();  // everybody's copies of the next tile have landed, and nobody reads this one any more
      }
      if (A::kWhole || busy) {
        const int from = i == kDepth - 1 ? next : stage, step = (i + 1) % kDepth;
        fragments[(i + 1) % 2].load(&tiles.a[from][step][row], &tiles.b[from][step][col]);
      }
      if (i < kDepth - 1) copy(i * kEach, (i + 1) * kEach);
      if (A::kWhole || busy) fragments[i % 2].multiply(sums);
    }
    stage = next;
  }
}

// A block's part of c. The operands' forms are known when it is compiled: four forms in one kernel would have to agree where
// the sums are, and an order of registers that suits one makes the others' multiply-adds wait for theirs.
template <Tiling kTiling, days::Op kOpA, days::Op kOpB>
__device__ __forceinline__ void gemm_block(const days::Gemm<float>& p, Tiles<kTiling>& tiles) {
  constexpr int kRows = kTiling.thread_m, kCols = kTiling.thread_n;
  constexpr int kRowLanes = kTiling.warp_m / kRows, kColLanes = kTiling.warp_n / kCols;
  constexpr int kDepth = kTiling.block_k, kThreads = kTiling.threads();
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

  float sums[kRows][kCols] = {};
  constexpr bool kAAlongK = kOpA == days::Op::kN, kBAlongK = kOpB == days::Op::kT;
  const bool whole = row0 + kTiling.block_m <= p.m && col0 + kTiling.block_n <= p.n && p.k % kDepth == 0 &&
                     (kAAlongK || (p.lda % 4 == 0 && days::aligned16(p.a))) &&
                     (kBAlongK || (p.ldb % 4 == 0 && days::aligned16(p.b)));
  if (whole) {
    WholeCopies<kTiling.block_m, kDepth, kThreads, kAAlongK> a(p.a, p.lda, row0);
    WholeCopies<kTiling.block_n, kDepth, kThreads, kBAlongK> b(p.b, p.ldb, col0);
    multiply_tiles<kTiling>(tiles, a, b, p.k, row, col, true, sums);
  } else {
    AnyCopies<kTiling.block_m, kDepth, kThreads> a(p.a, p.lda, kAAlongK, row0, p.m - row0);
    AnyCopies<kTiling.block_n, kDepth, kThreads> b(p.b, p.ldb, kBAlongK, col0, p.n - col0);
    multiply_tiles<kTiling>(tiles, a, b, p.k, row, col, busy, sums);
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
