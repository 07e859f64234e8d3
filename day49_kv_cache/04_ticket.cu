// SPDX-License-Identifier: MIT
//
// The blocks of a head draw tickets (day 41), and whoever draws the last merges. How many there are is read from
// the lengths; a sequence of one chunk needs no merge at all. Changed since split: one launch for two.
// Bound by: memory.

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day49_kv_cache/decode.h"
#include "day49_kv_cache/finish.cuh"

namespace day49 {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / days::kWarpSize;
constexpr int kAtOnce = 4;  // requests

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    ticket_kernel(const Decode<T> p, Partials partials, unsigned* tickets, int chunks) {
  using L = Lanes<T, kDim>;
  __shared__ WarpParts<kWarps, kDim> parts;
  const Chunk<T, kDim> chunk(p, chunks);
  if (chunk.empty()) return chunk.leave(p);
  if (chunk.last()) chunk.rows.append();
  float q[L::kCols];
  L::load_query(q, p.q + p.q_pitch.at(chunk.sequence, chunk.head), p.scale * kLog2E);
  Running<L::kCols> mine;
  days::attention::attend<kWarps, kAtOnce>(mine, q, chunk.rows, chunk.first, chunk.end);
  L::join(mine);
  finish(p, chunk, mine, parts, partials, tickets);
}

}  // namespace

template <class T>
void decode_ticket(const Decode<T>& p, cudaStream_t stream) {
  const Launch launch = prepare(p, "ticket");
  for_dim(p.dim, [&](auto dim) {
    ticket_kernel<T, dim>
        <<<launch.blocks, kThreads, 0, stream>>>(p, launch.partials, launch.tickets, launch.chunks);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(decode_ticket, Decode, float, days::half, days::bf16);

}  // namespace day49
