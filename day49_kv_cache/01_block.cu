// SPDX-License-Identifier: MIT
//
// A block for each head. It takes 256 keys at a time: scores to shared memory, a warp a key; then weights; then
// each thread adds up a column of o over a part of these keys. The new row is read where the layer before has left it and
// copied into the cache.
// Bound by: waiting. Four barriers for 256 keys, at which nothing is on its way; and 8 heads keep 8
// multiprocessors busy.

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::attention::HeadRows;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
constexpr int kTile = 256;  // keys
static_assert(kTile == kThreads, "a thread has a weight");

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) block_kernel(const Decode<T> p) {
  constexpr int kParts = kThreads / kDim;  // threads that share a column
  __shared__ float q[kDim], weights[kTile], columns[kParts][kDim];
  const int heads = p.heads, sequence = static_cast<int>(blockIdx.x) / heads,
            head = static_cast<int>(blockIdx.x) % heads;
  const HeadRows<T, kDim> rows(p, sequence, head);
  if (!rows.room) return days::attention::write_nan<kDim>(p, sequence, head);
  rows.append();

  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize,
            warp = thread / days::kWarpSize, col = thread % kDim, part = thread / kDim;
  if (thread < kDim) q[thread] = days::to_float(p.q[p.q_pitch.at(sequence, head) + thread]) * p.scale;
  float most = -INFINITY, sum = 0, o = 0;
  for (int first = 0; first < rows.keys(); first += kTile) {
    const int keys = min(kTile, rows.keys() - first);
    __syncthreads();  // q is complete, and all are done with the weights that were here
    for (int i = warp; i < keys; i += kWarps) {
      const T* k = rows.key(first + i);
      float score = 0;
      for (int d = lane; d < kDim; d += days::kWarpSize) score = fmaf(q[d], days::to_float(k[d]), score);
      score = days::warp_reduce(score, days::Sum{});
      if (lane == 0) weights[i] = score;
    }
    __syncthreads();
    const float score = thread < keys ? weights[thread] : -INFINITY;
    const float larger = fmaxf(most, days::block_reduce(score, days::Max{}, -INFINITY));
    const float shrink = expf(most - larger);
    most = larger;
    weights[thread] = expf(score - most);
    __syncthreads();
    sum *= shrink;
    o *= shrink;
    for (int i = part; i < keys; i += kParts) {
      sum += weights[i];
      o = fmaf(weights[i], days::to_float(rows.value(first + i)[col]), o);
    }
  }
  columns[part][col] = o;
  __shared__ float sums[kParts];
  if (col == 0) sums[part] = sum;
  __syncthreads();
  if (thread >= kDim) return;
  for (int i = 1; i < kParts; ++i) {
    o += columns[i][col];
    sum += sums[i];
  }
  days::attention::write_part(p, sequence, head, col, {o / sum, most + logf(sum)});
}

}  // namespace

template <class T>
void decode_block(const Decode<T>& p, cudaStream_t stream) {
  days::require_decode(p, "block");
  days::require_needs(p, "block", days::kDecodeAligned);
  const unsigned blocks = days::decode_blocks(p, p.heads, 1, "block");
  for_dim(p.dim, [&](auto dim) {
    block_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(decode_block, Decode, float, days::half, days::bf16);

}  // namespace day49
