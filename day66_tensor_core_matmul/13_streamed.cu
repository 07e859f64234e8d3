// SPDX-License-Identifier: MIT
//
// Stream-K: put the stages of all tiles into one row and cut it into equal parts, one for each block that the GPU has
// room for. A part may begin and end within a tile. Who makes a piece of a tile writes its float sums to the workspace,
// and the last of a tile's blocks to arrive adds the pieces in the order of k, so that the result is the same every
// time. Changed since split: where k is cut, and that no second kernel follows.
// Bound by: pieces that are written and read again, two a block at most, and then the tensor cores.

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kBlocksAMultiprocessor = 2;  // by registers and by shared memory
constexpr int kLeastStages = 4;            // a block
constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;

// The row of all stages, tile after tile.
struct Work {
  int tiles, stages;  // of c; of a tile
  int blocks;

  Work(int m, int n, int k)
      : tiles(static_cast<int>(tile_blocks(m, n, kSizes.m, kSizes.n, "streamed"))),
        stages(days::ceil_div(k, kSizes.k)) {
    const int64_t all = int64_t{tiles} * stages;
    days::require(all < int64_t{1} << 31,
                  "streamed: at most 2147483647 stages of 32 along k in all; they are", all);
    blocks = static_cast<int>(std::max<int64_t>(
        1, std::min<int64_t>(kBlocksAMultiprocessor * days::multiprocessors(), all / kLeastStages)));
  }
  // Where block i begins, and which block has stage number `at` of the row.
  __device__ int begin(int i) const { return static_cast<int>(int64_t{tiles} * stages * i / blocks); }
  __device__ int block_of(int at) const {
    return static_cast<int>((int64_t{at + 1} * blocks - 1) / (tiles * stages));
  }
};

// A block has at most two pieces of tiles: of the first tile, which began before it, and of the last.
struct alignas(16) Piece {
  float4 sums[kM * kN][kThreads];
};
struct Pieces {
  Piece* pieces;      // two a block
  unsigned* arrived;  // a tile
};

// A tile's pieces, of blocks `from` to `to`, in the order of k. Half of a piece at a time: all of it on its way and all
// sums are more than a thread's registers hold.
__device__ __forceinline__ void add_pieces(float (&sum)[kM][kN][4], const Piece* pieces, int from, int to) {
#pragma unroll
  for (int half = 0; half < kM; half += kM / 2) {
#pragma unroll
    for (int i = 0; i < kM / 2 * kN * 4; ++i) sum[half + i / 4 / kN][i / 4 % kN][i % 4] = 0;
#pragma unroll 1
    for (int block = from; block <= to; ++block) {
      const Piece& piece = pieces[2 * block + (block == from ? 1 : 0)];
#pragma unroll
      for (int i = 0; i < kM / 2 * kN; ++i) {
        const float4 more = __ldcg(&piece.sums[half * kN + i][threadIdx.x]);
        float(&s)[4] = sum[half + i / kN][i % kN];
        s[0] += more.x;
        s[1] += more.y;
        s[2] += more.z;
        s[3] += more.w;
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksAMultiprocessor)
    streamed_kernel(const DeepMatmul<T> p, Work work, Pieces memory, int tiles_across) {
  extern __shared__ uint4 shared[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(shared);
  __shared__ unsigned before;  // blocks of this tile that arrived before this one
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  const int end = work.begin(block + 1);
  for (int at = work.begin(block); at < end;) {
    const int tile = at / work.stages, start = tile * work.stages;
    const int first = at - start, last = min(end - start, work.stages);
    const int row = tile / tiles_across * kSizes.m, col = tile % tiles_across * kSizes.n;
    float sum[kM][kN][4] = {};
    multiply_block<OneProduct, false>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col, first,
                                      last, sum);
    bool complete = first == 0 && last == work.stages;
    if (!complete) {
      Piece& mine = memory.pieces[2 * block + (first == 0 ? 1 : 0)];
#pragma unroll
      for (int i = 0; i < kM * kN; ++i) {
        const float(&s)[4] = sum[i / kN][i % kN];
        mine.sums[i][thread] = make_float4(s[0], s[1], s[2], s[3]);
      }
      __threadfence();  // the piece is there for all blocks before the count says so
      __syncthreads();
      if (thread == 0) before = atomicAdd(&memory.arrived[tile], 1u);
      __syncthreads();
      const int from = work.block_of(start), to = work.block_of(start + work.stages - 1);
      if (before == static_cast<unsigned>(to - from)) {  // all others are there
        __threadfence();
        complete = true;
        add_pieces(sum, memory.pieces, from, to);
      }
    }
    if (complete) {
      store_rows<false>(stages, p.c, p.m, p.n, row, col, sum);
      __syncthreads();  // the stages' memory is free again
    }
    at = start + last;
  }
}

}  // namespace

size_t streamed_bytes(int m, int n, int k) {
  const Work work(m, n, k);
  return 2 * sizeof(Piece) * static_cast<size_t>(work.blocks) +
         sizeof(unsigned) * static_cast<size_t>(work.tiles);
}

template <class T>
requires Half<T>
void matmul_streamed(const DeepMatmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "streamed");
  days::require_needs(p, "streamed", kWholeN, kWholeK, kAligned);
  const size_t needed = streamed_bytes(p.m, p.n, p.k);
  days::require(p.workspace.bytes >= needed, "streamed: needs a workspace of bytes:", needed);
  const Work work(p.m, p.n, p.k);
  auto* const pieces = static_cast<Piece*>(p.workspace.data);
  const Pieces memory = {pieces, reinterpret_cast<unsigned*>(pieces + 2 * work.blocks)};
  CUDA_CHECK(cudaMemsetAsync(memory.arrived, 0, sizeof(unsigned) * static_cast<size_t>(work.tiles), stream));
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const auto kernel = streamed_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<static_cast<unsigned>(work.blocks), kThreads, kBytes, stream>>>(p, work, memory,
                                                                           days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_streamed, DeepMatmul, days::half, days::bf16);

}  // namespace day66
