// SPDX-License-Identifier: MIT
//
// The product of fp32 without tensor cores: day 39's blocks, of large tiles where they fill the device, for batches and parts of k. Sums
// leave by way of shared memory, so that the epilogue's code stands once and not once for each register.
// Bound by: the arithmetic, as day 39's `autotuned`.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/tile.cuh"
#include "day39_matmul_thread_coarsening/tunings.h"
#include "day66_tensor_core_matmul/block.cuh"
#include "model/epilogue.cuh"

namespace model {
namespace {

constexpr int kTogether = 8;  // rows of blocks
constexpr day39::Tiling kLarge = day39::kTunings[1].large, kMedium = day39::kTunings[0].medium;

// A warp's sums of one row of each of its threads.
template <class N>
struct Rows {
  static constexpr day39::Tiling kTiling = N::kTiling;
  static constexpr int kDown = kTiling.warp_m / kTiling.thread_m, kCols = kTiling.warp_n;
  float4 data[kTiling.threads() / days::kWarpSize][kDown][kCols / 4];
};
template <class N>
union Memory {
  day39::Tiles<N::kTiling> tiles;
  Rows<N> rows;
};

template <class N, Op kOpA, Op kOpB>
__global__ void __launch_bounds__(N::kTiling.threads())
    ffma_kernel(const Task<float> t, int down, int across) {
  constexpr day39::Tiling kTiling = N::kTiling;
  constexpr int kStep = kTiling.block_k, kThreads = kTiling.threads();
  constexpr int kRowLanes = kTiling.warp_m / kTiling.thread_m, kColLanes = kTiling.warp_n / kTiling.thread_n;
  constexpr int kWarpsAcross = kTiling.block_n / kTiling.warp_n;
  static_assert(kDepth % kStep == 0, "parts of k are whole tiles");
  extern __shared__ uint4 raw[];
  auto& memory = *reinterpret_cast<Memory<N>*>(raw);
  const int z = static_cast<int>(blockIdx.x) / (down * across);
  const auto place =
      day66::grouped_place<kTogether>(static_cast<int>(blockIdx.x) % (down * across), down, across);
  const int row0 = place.row * kTiling.block_m, col0 = place.col * kTiling.block_n;
  const int first = t.first(z), k = t.length(z);

  // The lanes' places and the choice of copies are those of day39::gemm_block.
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize,
            lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int lane_row = lane / 2 % 2 + lane / 4 / (kColLanes / 2) * 2;
  const int lane_col = lane % 2 + lane / 4 % (kColLanes / 2) * 2;
  const int warp_row = warp / kWarpsAcross * kTiling.warp_m, warp_col = warp % kWarpsAcross * kTiling.warp_n;
  const int row = warp_row + 4 * lane_row, col = warp_col + 4 * lane_col;
  const bool busy = row0 + warp_row < t.m && col0 + warp_col < t.n;  // a whole warp is, or is not

  constexpr bool kAAlongK = kOpA == Op::kN, kBAlongK = kOpB == Op::kT;
  const float* const from_a = t.a + z / t.split * t.stride_a + (kAAlongK ? first : first * t.lda);
  const float* const from_b = t.b + z / t.split * t.stride_b + (kBAlongK ? first : first * t.ldb);
  float sums[kTiling.thread_m][kTiling.thread_n] = {};
  const bool whole = row0 + kTiling.block_m <= t.m && col0 + kTiling.block_n <= t.n && k % kStep == 0 &&
                     (kAAlongK || (t.lda % 4 == 0 && days::aligned16(from_a))) &&
                     (kBAlongK || (t.ldb % 4 == 0 && days::aligned16(from_b)));
  if (whole) {
    day39::WholeCopies<kTiling.block_m, kStep, kThreads, kAAlongK> a(from_a, t.lda, row0);
    day39::WholeCopies<kTiling.block_n, kStep, kThreads, kBAlongK> b(from_b, t.ldb, col0);
    day39::multiply_tiles<kTiling>(memory.tiles, a, b, k, row, col, true, sums);
  } else {
    day39::AnyCopies<kTiling.block_m, kStep, kThreads> a(from_a, t.lda, kAAlongK, row0, t.m - row0);
    day39::AnyCopies<kTiling.block_n, kStep, kThreads> b(from_b, t.ldb, kBAlongK, col0, t.n - col0);
    day39::multiply_tiles<kTiling>(memory.tiles, a, b, k, row, col, busy, sums);
  }
  __syncthreads();  // nobody reads tiles any more
  if (!busy) return;

  auto& rows = memory.rows.data[warp];
  constexpr int kChunks = kTiling.warp_n / 8;  // of eight neighbours, in a row
#pragma unroll
  for (int r = 0; r < kTiling.thread_m; ++r) {
    __syncwarp();  // the last row has been read
#pragma unroll
    for (int s = 0; s < kTiling.thread_n; s += 4)
      rows[lane_row][lane_col + s / 4 * kColLanes] =
          make_float4(sums[r][s], sums[r][s + 1], sums[r][s + 2], sums[r][s + 3]);
    __syncwarp();
    const int to_row = row0 + warp_row + r / 4 * 4 * kRowLanes + r % 4;
#pragma unroll 1
    for (int i = lane; i < kRowLanes * kChunks; i += days::kWarpSize) {
      float x[1][8];
      load8(x[0], reinterpret_cast<const float*>(rows[i / kChunks]) + i % kChunks * 8, 8, true);
      t.finish(x, z, to_row + 4 * (i / kChunks), 1, col0 + warp_col + i % kChunks * 8);
    }
  }
}

template <class N>
void launch(const Task<float>& t, cudaStream_t stream) {
  const int down = days::ceil_div(t.m, N::kTiling.block_m), across = days::ceil_div(t.n, N::kTiling.block_n);
  const int64_t blocks = int64_t{down} * across * t.batch * t.split;
  days::require(blocks <= days::kMaxGridX, "multiply: ffma has at most 2147483647 blocks of ", "c, not",
                blocks);
  const auto kernel = t.op_a == Op::kN
                          ? t.op_b == Op::kN ? ffma_kernel<N, Op::kN, Op::kN> : ffma_kernel<N, Op::kN, Op::kT>
                      : t.op_b == Op::kN ? ffma_kernel<N, Op::kT, Op::kN>
                                         : ffma_kernel<N, Op::kT, Op::kT>;
  constexpr int kBytes = sizeof(Memory<N>);
  if (kBytes > 48 * 1024)
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<static_cast<unsigned>(blocks), N::kTiling.threads(), kBytes, stream>>>(t, down, across);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void launch_ffma(const Task<float>& t, cudaStream_t stream) {
  const int64_t large = kLarge.blocks(t.m, t.n) * t.batch * t.split;
  const auto shared = static_cast<size_t>(days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (large >= days::multiprocessors() && kLarge.shared_bytes() <= shared)
    return launch<day39::NumbersOf<kLarge>>(t, stream);
  launch<day39::NumbersOf<kMedium>>(t, stream);
}

}  // namespace model
