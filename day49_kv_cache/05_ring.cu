// SPDX-License-Identifier: MIT
//
// Keys and values come by asynchronous copies, three steps of two requests ahead. A lane copies just what it will
// use itself, so nobody waits for anybody else: the ring is a lane's own, without a barrier. Changed since ticket: bytes
// are on their way while a step is computed, and in shared memory, which holds more of them than registers.
// Bound by: memory.
// Teaches: cp_async_cg, cp_async_wait_group.

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day49_kv_cache/decode.h"
#include "day49_kv_cache/finish.cuh"

namespace day49 {
namespace {

using days::Vec;

constexpr int kThreads = 128, kWarps = kThreads / days::kWarpSize;
constexpr int kAtOnce = 2, kStages = 4;  // requests a step; steps in shared memory

template <int kDim>
union alignas(16) Shared {
  uint4 words[kStages][2][kAtOnce][kThreads];  // keys and values, 16 bytes a lane
  WarpParts<kWarps, kDim> parts;
};

// This thread's part of a step from key `first` on; zeros from `end` on. An empty group where there is none.
template <class T, int kDim>
__device__ __forceinline__ void fetch(uint4 (&words)[2][kAtOnce][kThreads], const HeadRows<T, kDim>& rows,
                                      int first, int end) {
  using L = Lanes<T, kDim>;
  if (first < end) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = first + i * L::kRows + L::row(), there = min(row, end - 1);
      days::ptx::cp_async_cg(&words[0][i][threadIdx.x], rows.key(there) + L::col(), row < end ? 16 : 0);
      days::ptx::cp_async_cg(&words[1][i][threadIdx.x], rows.value(there) + L::col(), row < end ? 16 : 0);
    }
  }
  days::ptx::cp_async_commit_group();
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    ring_kernel(const Decode<T> p, Partials partials, unsigned* tickets, int chunks) {
  using L = Lanes<T, kDim>;
  constexpr int kStep = kWarps * kAtOnce * L::kRows;  // keys of a block's step
  __shared__ Shared<kDim> s;
  const Chunk<T, kDim> chunk(p, chunks);
  if (chunk.empty()) return chunk.leave(p);

  int first = chunk.first + static_cast<int>(threadIdx.x) / days::kWarpSize * (kAtOnce * L::kRows);
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage)
    fetch(s.words[stage], chunk.rows, first + stage * kStep, chunk.end);
  if (chunk.last()) chunk.rows.append();
  float q[L::kCols];
  L::load_query(q, p.q + p.q_pitch.at(chunk.sequence, chunk.head), p.scale * kLog2E);
  Running<L::kCols> mine;
  for (int stage = 0; first < chunk.end; first += kStep) {
    const int free = stage == 0 ? kStages - 1 : stage - 1;
    fetch(s.words[free], chunk.rows, first + (kStages - 1) * kStep, chunk.end);
    days::ptx::cp_async_wait_group<kStages - 1>();  // this lane's own copies: nobody else reads them
    Vec<T> k[kAtOnce], v[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      k[i] = days::from_word<T>(s.words[stage][0][i][threadIdx.x]);
      v[i] = days::from_word<T>(s.words[stage][1][i][threadIdx.x]);
    }
    L::step(mine, q, k, v, first, chunk.end);
    stage = stage == kStages - 1 ? 0 : stage + 1;
  }
  days::ptx::cp_async_wait_group<0>();  // empty groups, but the parts are to lie where they point
  L::join(mine);
  __syncthreads();  // all warps are done with their rings, where the parts go
  finish(p, chunk, mine, s.parts, partials, tickets);
}

}  // namespace

template <class T>
void decode_ring(const Decode<T>& p, cudaStream_t stream) {
  const Launch launch = prepare(p, "ring");
  for_dim(p.dim, [&](auto dim) {
    ring_kernel<T, dim>
        <<<launch.blocks, kThreads, 0, stream>>>(p, launch.partials, launch.tickets, launch.chunks);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(decode_ring, Decode, float, days::half, days::bf16);

}  // namespace day49
