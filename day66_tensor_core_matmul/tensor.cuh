// SPDX-License-Identifier: MIT
//
// What rungs from `swizzled` on share: a tile whose 16-byte chunks are swizzled, one product of a warp, and two sums as
// one store.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/ptx.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {

// Where a row keeps its chunk c of 16 bytes: at c ^ key. Any eight rows at one c then lie in all 32 banks, because
// eight chunks are 128 bytes: rows of 64 bytes lie two to a line, so that only every second one gets another key. Of
// floats' rows of several lines, which are b's, a warp reads two chunks of four rows: a key for each of four rows.
template <class T>
DAYS_HOST_DEVICE constexpr bool four_keys(int chunks) {
  return sizeof(T) == 4 && chunks > 8;
}
template <class T>
__device__ __forceinline__ int swizzle_key(int row, int chunks) {
  if (chunks == 4) return row / 2 % 4;
  return four_keys<T>(chunks) ? row % 4 * 2 : row % 8;
}

// kRows x kCols in shared memory.
template <class T, int kRows_, int kCols_>
struct alignas(128) Tile {
  static constexpr int kRows = kRows_, kCols = kCols_;
  static constexpr int kPer = 16 / sizeof(T);  // elements of a chunk
  static constexpr int kChunks = kCols / kPer;
  static_assert(kChunks == 4 || kChunks % 8 == 0, "rows of 64 bytes, or of whole lines");
  static constexpr int kKeys = four_keys<T>(kChunks) ? 4 : 8;  // as many rows further down keys come again
  T data[kRows * kCols];

  // 16 bytes at chunk ^ flip of the row `down` below `row`. With `down` a multiple of kKeys, so that the key is
  // the same, and a constant flip, another place costs one instruction or none.
  __device__ T* at(int row, int chunk, int flip = 0, int down = 0) {
    const int place = row * kCols + (chunk ^ swizzle_key<T>(row, kChunks)) * kPer;
    return data + (place ^ (flip * kPer)) + down * kCols;
  }
};

// d += a * b, 16 x 16 times 16 x 8.
template <class T>
requires Half<T> __device__ __forceinline__ void multiply_add(float (&d)[4], const uint32_t (&a)[4],
                                                              uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, days::half>) {
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

// 32 x 32 sums of a warp, its place in c from `row` and `col` on: two elements a lane.
template <class T>
__device__ __forceinline__ void store_pairs(const Matmul<T>& p, const float (&sum)[2][4][4], int row,
                                            int col) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int down = row + i / 2 * 16 + i % 2 * 8 + lane / 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int across = col + 8 * j + lane % 4 * 2;
      if (down >= p.m || across >= p.n) continue;
      *reinterpret_cast<uint32_t*>(p.c + int64_t{down} * p.n + across) =
          pack<T>(sum[i / 2][j][i % 2 * 2], sum[i / 2][j][i % 2 * 2 + 1]);
    }
  }
}

}  // namespace day66
