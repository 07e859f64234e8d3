// SPDX-License-Identifier: MIT
//
// Each warp has keys of its own, and all that belongs to them: the largest score so far, the sum of weights, o.
// A row is 16 bytes a lane, so a request takes one to four keys; four requests of keys and four of values are on
// their way at a time. At the end the warps' parts become one. Changed since block: no barrier between keys, one
// at the end.
// Bound by: latency; still a block for each head.

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::Vec;
using days::attention::HeadRows;
using days::attention::Lanes;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
constexpr int kAtOnce = 4;  // requests

template <int kDim>
struct Shared {
  float o[kWarps][kDim], most[kWarps], sum[kWarps];
};

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) warps_kernel(const Decode<T> p) {
  using L = Lanes<T, kDim>;
  __shared__ Shared<kDim> s;
  const int sequence = static_cast<int>(blockIdx.x) / p.heads, head = static_cast<int>(blockIdx.x) % p.heads;
  const HeadRows<T, kDim> rows(p, sequence, head);
  if (!rows.room) return days::attention::write_nan<kDim>(p, sequence, head);
  rows.append();

  float q[L::kCols];  // times log2(e): a weight is then one instruction, 2^x
  L::load_query(q, p.q + p.q_pitch.at(sequence, head), p.scale * days::attention::kLog2E);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize,
            warp = thread / days::kWarpSize;
  float most = -INFINITY, sum = 0, o[L::kCols] = {};
  for (int first = warp * kAtOnce * L::kRows; first < rows.keys(); first += kWarps * kAtOnce * L::kRows) {
    Vec<T> k[kAtOnce] = {}, v[kAtOnce] = {};  // zeros beyond the end, for a weight of 0 times NaN is NaN
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = first + i * L::kRows + L::row();
      if (row >= rows.keys()) continue;
      k[i] = days::load16(rows.key(row) + L::col());
      v[i] = days::load16(rows.value(row) + L::col());
    }
    float scores[kAtOnce], larger = most;
    for (int i = 0; i < kAtOnce; ++i) {
      const float score = L::score(q, k[i]);
      scores[i] = first + i * L::kRows + L::row() < rows.keys() ? score : -INFINITY;
      larger = fmaxf(larger, scores[i]);
    }
    const float from = larger == -INFINITY ? 0 : larger;  // no key so far: 2^(-inf - 0) is 0
    const float shrink = days::ptx::ex2_approx_ftz(most - from);
    most = larger;
    sum *= shrink;
    for (float& column : o) column *= shrink;
    for (int i = 0; i < kAtOnce; ++i) {
      const float weight = days::ptx::ex2_approx_ftz(scores[i] - from);
      sum += weight;
      for (int c = 0; c < L::kCols; ++c) o[c] = fmaf(weight, days::to_float(v[i][c]), o[c]);
    }
  }

  // The rows of a request have kept apart so far: lanes with the same columns meet.
  float larger = most;
  for (int distance = L::kRowLanes; distance < days::kWarpSize; distance *= 2)
    larger = fmaxf(larger, __shfl_xor_sync(0xffffffffu, larger, distance));
  const float shrink = larger == -INFINITY ? 0 : days::ptx::ex2_approx_ftz(most - larger);
  sum *= shrink;
  for (float& column : o) column *= shrink;
  for (int distance = L::kRowLanes; distance < days::kWarpSize; distance *= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    for (float& column : o) column += __shfl_xor_sync(0xffffffffu, column, distance);
  }
  if (L::row() == 0) {
    for (int c = 0; c < L::kCols; ++c) s.o[warp][L::col() + c] = o[c];
  }
  if (lane == 0) {
    s.most[warp] = larger;
    s.sum[warp] = sum;
  }
  __syncthreads();
  if (thread >= kDim) return;
  float all_most = -INFINITY, all_sum = 0, all_o = 0;
  for (const float one : s.most) all_most = fmaxf(all_most, one);
  for (int i = 0; i < kWarps; ++i) {
    const float factor = days::ptx::ex2_approx_ftz(s.most[i] - all_most);  // of a warp without a key 0
    all_sum = fmaf(s.sum[i], factor, all_sum);
    all_o = fmaf(s.o[i][thread], factor, all_o);
  }
  const float lse = (all_most + log2f(all_sum)) / days::attention::kLog2E;
  days::attention::write_part(p, sequence, head, thread, {all_o / all_sum, lse});
}

}  // namespace

template <class T>
void decode_warps(const Decode<T>& p, cudaStream_t stream) {
  days::require_decode(p, "warps");
  days::require_needs(p, "warps", days::kDecodeAligned);
  const unsigned blocks = days::decode_blocks(p, p.heads, 1, "warps");
  for_dim(p.dim, [&](auto dim) {
    warps_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(decode_warps, Decode, float, days::half, days::bf16);

}  // namespace day49
