// SPDX-License-Identifier: MIT
//
// Each warp has a ring of its own: while it multiplies a slice of 16 keys, copies bring the next two. Nobody waits for
// another warp before the end of the chunk. Changed since columns: who brings keys, when, and that the loop has no
// barrier.
// What should bound it now: memory. Two blocks on a multiprocessor have 128 KiB under way.
// Teaches: cp_async_cg.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day50_gqa/chunk.cuh"
#include "day50_gqa/columns.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using days::attention::kLog2E;
using days::attention::Tile;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
template <int kDim>
constexpr int kStages = kDim == 64 ? 4 : 3;  // slices of a warp

// A warp's.
template <class T, int kDim>
struct Slices {
  Tile<T, kStages<kDim> * kSlice, kDim, true> k, v;

  // Copies of a slice are one group; an empty one where no key is left.
  template <class Block>
  __device__ __forceinline__ void fetch(const Block& mine, int first, int stage) {
    constexpr int kChunks = kDim / days::attention::kChunk, kRows = days::kWarpSize / kChunks;
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
    const int chunk = lane % kChunks, d = chunk * days::attention::kChunk;
    if (first < mine.end) {
#pragma unroll
      for (int down = 0; down < kSlice; down += kRows) {
        const int row = down + lane / kChunks, j = first + row;
        const uint32_t bytes = j < mine.end ? 16 : 0;
        days::ptx::cp_async_cg(k.at(stage * kSlice + row, chunk), mine.rows.key(j) + d, bytes);
        days::ptx::cp_async_cg(v.at(stage * kSlice + row, chunk), mine.rows.value(j) + d, bytes);
      }
    }
    days::ptx::cp_async_commit_group();
  }
};

template <class T, int kDim, int kTiles>
union Shared {
  Slices<T, kDim> slices[kWarps];
  Parts<kWarps, kTiles * kColumns, kDim, kColumnPad> parts;
};

template <class T, int kDim, int kTiles>
__global__ void __launch_bounds__(kThreads) ring_kernel(const Decode<T> p, const Work work) {
  extern __shared__ uint4 memory[];
  Shared<T, kDim, kTiles>& shared = *reinterpret_cast<Shared<T, kDim, kTiles>*>(memory);
  const Block<T, kDim, kTiles * kColumns> mine(p, work.chunks);
  if (mine.empty()) return mine.leave(p);

  constexpr int kAhead = kStages<kDim> - 1;
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  Slices<T, kDim>& ring = shared.slices[warp];
  int first = mine.first + warp * kSlice;
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) ring.fetch(mine, first + stage * kWarps * kSlice, stage);
  Columns<T, kDim, kTiles> columns(p, mine);
  mine.append();

  const float scale = p.scale * kLog2E;
  for (int stage = 0; first < mine.end; first += kWarps * kSlice) {
    days::ptx::cp_async_wait_group<kAhead - 1>();
    __syncwarp();  // all lanes' copies are here, and all are done with the slice before
    ring.fetch(mine, first + kAhead * kWarps * kSlice, stage == 0 ? kAhead : stage - 1);
    columns.add(ring.k, ring.v, stage * kSlice, mine.end - first, scale);
    stage = stage == kAhead ? 0 : stage + 1;
  }
  days::ptx::cp_async_wait_all();
  __syncthreads();  // parts lie where slices were
  columns.put(shared.parts, warp, scale);
  finish(p, work, mine, shared.parts);
}

}  // namespace

template <class T>
requires Half<T>
void gqa_ring(const Decode<T>& p, cudaStream_t stream) {
  for_dim(p.dim, [&](auto dim) {
    for_tiles(p, "ring", [&](auto tiles) {
      const Work work = prepare(p, tiles * kColumns, "ring");
      constexpr int kBytes = sizeof(Shared<T, dim, tiles>);
      const auto kernel = ring_kernel<T, dim, tiles>;
      CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
      kernel<<<work.blocks, kThreads, kBytes, stream>>>(p, work);
      CUDA_CHECK_LAUNCH();
    });
  });
}

INSTANTIATE_LAUNCHER(gqa_ring, Decode, days::half, days::bf16);

}  // namespace day50
