// SPDX-License-Identifier: MIT
//
// What the rungs share: tiles of a and b in shared memory as wgmma reads them, a warpgroup's products of a stage, and how its sums leave.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/check.h"
#include "common/ptx.h"
#include "common/ptx/wgmma.h"
#include "common/tensor_map.h"
#include "common/types.h"
#include "common/util.h"
#include "day67_hopper_matmul/matmul.h"

namespace day67 {

inline constexpr int kGroup = 128;  // threads of a warpgroup
inline constexpr int kRows = 64;    // of c, that a warpgroup's product has
inline constexpr int kDepth = 64;  // of k, that a stage has: 128 bytes of 16-bit elements, the widest swizzle
inline constexpr int kSlab = 64;   // columns of b that lie together, 128 bytes as well

// A stage: kM rows of a, 64 of k each; and of b 64 rows of k in slabs of 64 columns. Each row of 128 bytes is eight pieces of 16, and
// piece p of row r stands where p ^ r % 8 says. That is the swizzle of 128 bytes, of copy engine and wgmma alike.
template <class T, int kM, int kN>
struct alignas(1024) Stage {
  T a[kM * kDepth];
  T b[kN / kSlab][kDepth * kSlab];
};

// sum (64 x kN) += rows of the stage's a from `row` on, times its b. Four products, 16 of k each.
template <class T, int kM, int kN>
__device__ __forceinline__ void multiply_stage(float (&sum)[kN / 2], const Stage<T, kM, kN>& stage, int row) {
  using days::ptx::Major;
  const uint64_t a = days::ptx::wgmma_descriptor(stage.a + row * kDepth);
  // b's neighbours are neighbours along n: 8 rows of k are 1,024 bytes, and the next 64 columns a slab further.
  const uint64_t b = days::ptx::wgmma_descriptor(stage.b[0], sizeof stage.b[0], 1024);
#pragma unroll
  for (int step = 0; step < kDepth / 16;
       ++step)  // the next 16 of k: 32 bytes further in a, 16 rows of 128 in b
    days::ptx::wgmma<T, T, Major::k, Major::rows>(sum, a + step * (32 >> 4), b + step * (16 * 128 >> 4));
}

// Two neighbours as 32 bits, the first in the lower half.
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  T two[2] = {days::from_float<T>(low), days::from_float<T>(high)};
  uint32_t bits;
  memcpy(&bits, two, sizeof bits);
  return bits;
}

// A warpgroup's sums to c at (row, col): each lane has pairs of neighbours.
template <class T, int kN>
__device__ __forceinline__ void store_pairs(const Matmul<T>& p, int row, int col, const float (&sum)[kN]) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  row += static_cast<int>(threadIdx.x) % kGroup / days::kWarpSize * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < kN; i += 2) {
    const int down = row + i % 4 / 2 * 8, across = col + i / 4 * 8 + lane % 4 * 2;
    if (down < p.m && across < p.n)
      *reinterpret_cast<uint32_t*>(p.c + int64_t{down} * p.n + across) = pack<T>(sum[i], sum[i + 1]);
  }
}

// The boxes that copies bring: kM rows of a, 64 wide; 64 rows of b, a slab wide.
template <class T>
CUtensorMap map_of_a(const Matmul<T>& p, int rows) {
  return days::tensor_map(p.a, p.m, p.k, rows, kDepth, CU_TENSOR_MAP_SWIZZLE_128B);
}
template <class T>
CUtensorMap map_of_b(const Matmul<T>& p) {
  return days::tensor_map(p.b, p.k, p.n, kDepth, kSlab, CU_TENSOR_MAP_SWIZZLE_128B);
}

// What each launcher asks of its problem; the tiles of c; and the launch.
template <class T>
void require_problem(const Matmul<T>& p, const char* variant) {
  days::require_matmul(p, variant);
  days::require_needs(p, variant, kWholeN, kWholeK, kAligned);
}
template <class T>
int tiles_of(const Matmul<T>& p, int tile_m, int tile_n, const char* variant) {
  const int64_t tiles = int64_t{days::ceil_div(p.m, tile_m)} * days::ceil_div(p.n, tile_n);
  days::require(tiles < int64_t{1} << 31, variant, ": a grid has at most 2147483647 blocks; tiles are",
                tiles);
  return static_cast<int>(tiles);
}
template <class Memory, class Kernel, class... Arguments>
void launch(Kernel kernel, unsigned blocks, int threads, cudaStream_t stream, const Arguments&... arguments) {
  constexpr int kBytes = sizeof(Memory);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, threads, kBytes, stream>>>(arguments...);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day67
