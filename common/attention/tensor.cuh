// SPDX-License-Identifier: MIT
//
// What attention on tensor cores is made of: tiles in shared memory, and a warp's products in registers. Day 43
// takes it apart.
//
// A warp has kM times 16 queries. Its scores of 8 keys are one accumulator of mma: lane 4 * g + t holds rows
// g and g + 8, columns 2 * t and 2 * t + 1. Two such accumulators, rounded to T, are just the fragment that
// the next product wants on its left: the weights never leave the registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/problems/attention.h"
#include "common/ptx.h"
#include "common/util.h"

namespace days::attention {

inline constexpr int kChunk = 8;  // halves in 16 bytes, which is what is moved at a time

// kRows x kDim in shared memory. Rows are 128 or 256 bytes, so 16 bytes at the same place of any 8 rows lie
// in the same four banks, and ldmatrix, which wants just those, meets 7 conflicts. Swizzled, row r keeps
// chunk c at c ^ (r % 8): any 8 rows at one chunk, and any 8 chunks of one row, lie in all 32 banks.
template <class T, int kRows, int kDim_, bool kSwizzled>
struct alignas(128) Tile {
  using Element = T;
  static constexpr int kDim = kDim_, kChunks = kDim / kChunk;
  T data[kRows * kDim];

  // 16 bytes at the chunk whose number is chunk ^ flip, `down` rows below `row`. With an even flip and rows a
  // multiple of 8 further down, another place costs an instruction or none: the loops below are written so.
  __device__ T* at(int row, int chunk, int flip = 0, int down = 0) {
    const int place = row * kDim + (kSwizzled ? chunk ^ (row % 8) : chunk) * kChunk;
    return data + (place ^ (flip * kChunk)) + down * kDim;
  }
};

// ---- Loads by a block of kThreads: kRows rows from `first` of a (count, kDim) array, to rows `row` ... of
// the tile; zeros beyond the last, because what lies where nobody looks is multiplied by a weight of 0, and
// 0 times NaN is NaN ----

// Calls move(to, from, inside) for each 16 bytes that are this thread's. Where not `inside`, `from` must not
// be read.
template <int kThreads, int kRows, class Tile, class Move>
__device__ __forceinline__ void for_chunks(Tile& tile, int row, const typename Tile::Element* from, int first,
                                           int count, const Move& move) {
  constexpr int kStep = kThreads / Tile::kChunks;  // rows
  static_assert(kStep % 8 == 0 && kRows % kStep == 0, "each pass must meet the same swizzle");
  const int mine = static_cast<int>(threadIdx.x) / Tile::kChunks;
  const int chunk = static_cast<int>(threadIdx.x) % Tile::kChunks;
  auto* const to = tile.at(row + mine, chunk);
  from += int64_t{first + mine} * Tile::kDim + chunk * kChunk;
#pragma unroll
  for (int down = 0; down < kRows; down += kStep)
    move(to + down * Tile::kDim, from + down * Tile::kDim, mine + down < count - first);
}

template <int kThreads, int kRows, class Tile>
__device__ __forceinline__ void load_tile(Tile& tile, const typename Tile::Element* from, int first,
                                          int count) {
  for_chunks<kThreads, kRows>(tile, 0, from, first, count, [](auto* to, auto* source, bool inside) {
    *reinterpret_cast<uint4*>(to) = inside ? *reinterpret_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
  });
}

// The same without waiting: a part of the thread's next group of copies.
template <int kThreads, int kRows, class Tile>
__device__ __forceinline__ void load_tile_async(Tile& tile, int row, const typename Tile::Element* from,
                                                int first, int count) {
  for_chunks<kThreads, kRows>(tile, row, from, first, count, [](auto* to, auto* source, bool inside) {
    days::ptx::cp_async_cg(to, source, inside ? 16 : 0);
  });
}

// ---- Products of a warp ----

// d += a * b with a of 16 x 16 and b of 16 x 8. kWide: one instruction, from compute capability 8.0 on;
// else two of half the depth, for half and 7.5.
template <class T, bool kWide = true>
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (!kWide) {
    static_assert(std::is_same_v<T, days::half>, "7.5 multiplies no bfloat16");
    days::ptx::mma_m16n8k8_f32_f16_f16_f32(d, {a[0], a[1]}, {b0}, d);
    days::ptx::mma_m16n8k8_f32_f16_f16_f32(d, {a[2], a[3]}, {b1}, d);
  } else if constexpr (std::is_same_v<T, days::half>) {
    days::ptx::mma_m16n8k16_f32_f16_f16_f32(d, a, {b0, b1}, d);
  } else {
    days::ptx::mma_m16n8k16_f32_bf16_bf16_f32(d, a, {b0, b1}, d);
  }
}

// Two floats rounded to T, the first in the lower half.
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t bits;
  if constexpr (std::is_same_v<T, days::half>) {
    const __half2 pair = __floats2half2_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  }
  return bits;
}

// The left fragment of rows `row` ... row + 15 and columns 16 * step ...
template <class Tile>
__device__ __forceinline__ void load_left(uint32_t (&a)[4], Tile& tile, int row, int step) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  days::ptx::ldmatrix(a, tile.at(row + lane % 16, lane / 16, 2 * step));
}

// scores += q k^T for kM * 16 queries and kN * 8 keys, rows `row` ... of the tile. queries(step, a) gives the
// fragments of columns 16 * step ...
template <class T, bool kWide = true, int kM, int kN, class Tile, class Queries>
__device__ __forceinline__ void multiply_keys(float (&scores)[kM][kN][4], Tile& k, int row,
                                              const Queries& queries) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int step = 0; step < Tile::kDim / 16; ++step) {
    uint32_t a[kM][4];
    queries(step, a);
#pragma unroll
    for (int n = 0; n < kN; n += 2) {  // 16 keys: two fragments of b
      uint32_t b[4];
      days::ptx::ldmatrix(b, k.at(row + lane / 16 * 8 + lane % 8, lane / 8 % 2, 2 * step, n * 8));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        mma<T, kWide>(scores[m][n], a[m], b[0], b[1]);
        mma<T, kWide>(scores[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// o += weights v, the weights rounded to T; v is rows `row` ... of the tile.
template <class T, bool kWide = true, int kM, int kN, int kD, class Tile>
__device__ __forceinline__ void multiply_values(float (&o)[kM][kD][4], const float (&weights)[kM][kN][4],
                                                Tile& v, int row) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int n = 0; n < kN; n += 2) {
    uint32_t a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      a[m][0] = pack<T>(weights[m][n][0], weights[m][n][1]);
      a[m][1] = pack<T>(weights[m][n][2], weights[m][n][3]);
      a[m][2] = pack<T>(weights[m][n + 1][0], weights[m][n + 1][1]);
      a[m][3] = pack<T>(weights[m][n + 1][2], weights[m][n + 1][3]);
    }
#pragma unroll
    for (int d = 0; d < kD; d += 2) {  // 16 columns of v, transposed on the way into the registers
      uint32_t b[4];
      days::ptx::ldmatrix<true>(b, v.at(row + lane % 16, lane / 16, d, n * 8));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        mma<T, kWide>(o[m][d], a[m], b[0], b[1]);
        mma<T, kWide>(o[m][d + 1], a[m], b[2], b[3]);
      }
    }
  }
}
}  // namespace days::attention
