// SPDX-License-Identifier: MIT
//
// int8: mma.sync takes 16 x 8 x 32 of bytes and adds to sums of 32 bits, which are exact. b is stored by columns, so
// that neighbours along k, which a register of b's fragment holds four of, lie side by side and ldmatrix brings them
// as it does for a; rows of bytes it could not transpose. Changed since grouped: the type, and b's order.
// What should bound it now: the tensor cores, at twice bfloat16's rate.
// Teaches: mma_m16n8k32_s32_s8_s8_s32.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 256, .k = 64, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kGroup = 16;  // rows of tiles

struct Bytes : OneProduct {
  template <int kM, int kN>
  __device__ __forceinline__ static void add(int32_t (&sum)[kM][kN][4], const Operands<int8_t, kSizes>& f) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j)
        days::ptx::mma_m16n8k32_s32_s8_s8_s32(sum[i][j], f.a[i], f.b[j], sum[i][j]);
    }
  }
};

template <bool kAny>
__global__ void __launch_bounds__(kThreads, 1)
    bytes_kernel(const ByteMatmul<int8_t> p, int tiles_down, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<int8_t, kSizes>*>(memory);
  const Place place = grouped_place<kGroup>(static_cast<int>(blockIdx.x), tiles_down, tiles_across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;

  int32_t sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  multiply_block<Bytes, kAny>(stages, Source<int8_t>{p.a, p.m, p.k}, {p.b, p.n, p.k}, row, col, 0,
                              days::ceil_div(p.k, kSizes.k), sum);
  for_pairs(sum, row + warp_row<kSizes>(), col + warp_col<kSizes>(),
            [&](int down, int across, int32_t x, int32_t y) {
              store_two<kAny>(p.c, p.m, p.n, down, across, x, y);
            });
}

}  // namespace

void matmul_bytes(const ByteMatmul<int8_t>& p, cudaStream_t stream) {
  require_bytes(p, "bytes");
  const unsigned blocks = tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "bytes");
  constexpr int kBytes = sizeof(Stages<int8_t, kSizes>);
  const bool whole = p.n % 2 == 0 && p.k % 16 == 0 && kAligned.holds(p);
  const auto kernel = whole ? bytes_kernel<false> : bytes_kernel<true>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.m, kSizes.m),
                                               days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

}  // namespace day66
