// SPDX-License-Identifier: MIT
//
// The instruction itself: mma.sync, 16 x 8 x 16, on fragments that the kernel fetches with ldmatrix and whose elements
// it knows. So c goes from registers to memory, two elements a lane, and tiles are filled 16 bytes at a time.
// Changed since wmma: who knows the fragments; the tiles are the same.
// Needs k % 8 == 0, n % 8 == 0 and aligned pointers, for the 16 bytes.
// Bound by: bank conflicts of ldmatrix, whose eight rows of 16 bytes lie 64 or 128 bytes apart.
// Teaches: mma_m16n8k16_f32_f16_f16_f32, mma_m16n8k16_f32_bf16_bf16_f32, ldmatrix.

#include <cstdint>
#include <cstring>

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kTile = 64, kDepth = 32;  // of c, a block; of k, a tile of a or b

template <class T>
struct alignas(128) Shared {
  T a[kTile][kDepth];  // rows of 64 bytes
  T b[kDepth][kTile];  // rows of 128 bytes
};

// d += a * b, 16 x 16 times 16 x 8: of a a lane brings 8 elements in four registers, of b 4 in two, of d it has 4.
template <class T>
__device__ __forceinline__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  if constexpr (std::is_same_v<T, days::half>) {
    days::ptx::mma_m16n8k16_f32_f16_f16_f32(d, a, {b0, b1}, d);
  } else {
    days::ptx::mma_m16n8k16_f32_bf16_bf16_f32(d, a, {b0, b1}, d);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) mma_kernel(const Matmul<T> p, int tiles_across) {
  __shared__ Shared<T> shared;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize;
  const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kTile;
  const int first_col = static_cast<int>(blockIdx.x) % tiles_across * kTile;
  const int warp_row = thread / 64 * 32, warp_col = thread / 32 % 2 * 32;  // within the block's tile

  float sum[2][4][4] = {};  // 2 x 4 results of 16 x 8
  for (int k0 = 0; k0 < p.k; k0 += kDepth) {
    __syncthreads();  // all are done with the tiles that were here
    for (int i = thread; i < kTile * kDepth / 8; i += kThreads) {
      const int row = i / (kDepth / 8), col = i % (kDepth / 8) * 8;
      const T* from = p.a + int64_t{first_row + row} * p.k + k0 + col;
      *reinterpret_cast<uint4*>(&shared.a[row][col]) = first_row + row < p.m && k0 + col < p.k
                                                           ? *reinterpret_cast<const uint4*>(from)
                                                           : make_uint4(0, 0, 0, 0);
    }
    for (int i = thread; i < kDepth * kTile / 8; i += kThreads) {
      const int row = i / (kTile / 8), col = i % (kTile / 8) * 8;
      const T* from = p.b + int64_t{k0 + row} * p.n + first_col + col;
      *reinterpret_cast<uint4*>(&shared.b[row][col]) = k0 + row < p.k && first_col + col < p.n
                                                           ? *reinterpret_cast<const uint4*>(from)
                                                           : make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      uint32_t a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        days::ptx::ldmatrix(a[i], &shared.a[warp_row + 16 * i + lane % 16][k + lane / 16 * 8]);
        days::ptx::ldmatrix<true>(b[i], &shared.b[k + lane % 16][warp_col + 16 * i + lane / 16 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply_add<T>(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  // Of each result lane 4g + t has rows g and g + 8, columns 2t and 2t + 1.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first_row + warp_row + i / 2 * 16 + i % 2 * 8 + lane / 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int col = first_col + warp_col + 8 * j + lane % 4 * 2;
      if (row >= p.m || col >= p.n) continue;
      const T pair[2] = {days::from_float<T>(sum[i / 2][j][i % 2 * 2]),
                         days::from_float<T>(sum[i / 2][j][i % 2 * 2 + 1])};
      uint32_t bits;
      memcpy(&bits, pair, sizeof bits);
      *reinterpret_cast<uint32_t*>(p.c + int64_t{row} * p.n + col) = bits;
    }
  }
}

}  // namespace

template <class T>
requires Half<T>
void matmul_mma(const Matmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "mma");
  days::require_needs(p, "mma", kWholeN, kWholeK, kAligned);
  const unsigned blocks = tile_blocks(p.m, p.n, kTile, kTile, "mma");
  mma_kernel<<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.n, kTile));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_mma, Matmul, days::half, days::bf16);

}  // namespace day66
