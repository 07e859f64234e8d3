// SPDX-License-Identifier: MIT
//
// A block for each 256 keys of a head, which leaves what it has found in the workspace: o of these keys alone,
// and their lse. A second kernel merges the chunks, each weighed by e^lse. Changed since warps: blocks grow with
// the cache, so all multiprocessors have some; a chunk's keys depend on nothing, so bits are the same in any batch.
// Bound by: memory, and the second kernel's start.

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::attention::chunks_of;
using days::attention::HeadRows;
using days::attention::kChunkKeys;
using days::attention::kLog2E;
using days::attention::Lanes;
using days::attention::Part;
using days::attention::Partials;
using days::attention::Running;
using days::attention::WarpParts;

constexpr int kThreads = 128, kWarps = kThreads / days::kWarpSize;
constexpr int kAtOnce = 4;                   // requests
constexpr int kMergeCols = days::kWarpSize;  // columns of o that a block of the second kernel merges
constexpr int kMergeWarps = 8;

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) chunk_kernel(const Decode<T> p, Partials partials, int chunks) {
  using L = Lanes<T, kDim>;
  __shared__ WarpParts<kWarps, kDim> parts;
  const int row = static_cast<int>(blockIdx.x) / chunks, chunk = static_cast<int>(blockIdx.x) % chunks;
  const int sequence = row / p.heads, head = row % p.heads, first = chunk * kChunkKeys;
  const HeadRows<T, kDim> rows(p, sequence, head);
  if (!rows.room || first >= rows.keys()) return;
  const int end = min(first + kChunkKeys, rows.keys());
  if (end == rows.keys()) rows.append();

  float q[L::kCols];
  L::load_query(q, p.q + p.q_pitch.at(sequence, head), p.scale * kLog2E);
  Running<L::kCols> mine;
  days::attention::attend<kWarps, kAtOnce>(mine, q, rows, first, end);
  L::join(mine);
  parts.put(mine);
  __syncthreads();
  const int col = static_cast<int>(threadIdx.x);
  if (col >= kDim) return;
  const Part part = parts.total(col);
  partials.o[int64_t{blockIdx.x} * kDim + col] = part.o;
  if (col == 0) partials.lse[blockIdx.x] = part.lse;
}

// 32 columns of a head, one a lane; a warp takes each kMergeWarps-th chunk.
template <class T, int kDim>
__global__ void __launch_bounds__(kMergeWarps* days::kWarpSize)
    merge_kernel(const Decode<T> p, Partials partials, int chunks) {
  constexpr int kBlocks = kDim / kMergeCols;  // of a head
  __shared__ float sums[kMergeWarps], columns[kMergeWarps][kMergeCols];
  const int row = static_cast<int>(blockIdx.x) / kBlocks;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int col = static_cast<int>(blockIdx.x) % kBlocks * kMergeCols + lane;
  const int sequence = row / p.heads, head = row % p.heads, length = p.lengths[sequence];
  Part merged = {NAN, NAN};
  if (days::has_room(length, p.capacity)) {
    const int used = chunks_of(length + 1);
    const float* lse = partials.lse + int64_t{row} * chunks;
    const float* o = partials.o + int64_t{row} * chunks * kDim + col;
    float most = -INFINITY, sum = 0, column = 0;
    for (int i = lane; i < used; i += days::kWarpSize) most = fmaxf(most, lse[i]);
    most = days::warp_reduce(most, days::Max{});
    for (int i = warp; i < used; i += kMergeWarps) {
      const float weight = expf(lse[i] - most);
      sum += weight;
      column = fmaf(weight, o[int64_t{i} * kDim], column);
    }
    columns[warp][lane] = column;
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    sum = column = 0;
    for (int i = 0; i < kMergeWarps; ++i) {
      sum += sums[i];
      column += columns[i][lane];
    }
    merged = {column / sum, most + logf(sum)};
  }
  if (warp == 0) days::attention::write_part(p, sequence, head, col, merged);
}

}  // namespace

template <class T>
void decode_split(const Decode<T>& p, cudaStream_t stream) {
  days::require_decode(p, "split");
  days::require_needs(p, "split", days::kDecodeAligned);
  days::require(p.workspace.bytes >= split_workspace(p),
                "split: needs a workspace of bytes:", split_workspace(p));
  const int chunks = chunks_of(p.capacity);
  const unsigned blocks = days::decode_blocks(p, p.heads, chunks, "split");
  const Partials partials = days::attention::partials_at(p.workspace.data, blocks, p.dim);
  for_dim(p.dim, [&](auto dim) {
    const unsigned merges = days::decode_blocks(p, p.heads, dim / kMergeCols, "split");
    chunk_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, partials, chunks);
    CUDA_CHECK_LAUNCH();
    merge_kernel<T, dim><<<merges, kMergeWarps * days::kWarpSize, 0, stream>>>(p, partials, chunks);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(decode_split, Decode, float, days::half, days::bf16);

}  // namespace day49
