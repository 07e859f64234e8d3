// SPDX-License-Identifier: MIT
//
// Kernels of day 49 with a bug in each, which its tests must reject.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::attention::HeadRows;

// A block a head: thread d holds column d of o, and all threads compute all scores.
template <class T, void (*k64)(Decode<T>), void (*k128)(Decode<T>)>
void launch(const Decode<T>& p, cudaStream_t stream) {
  (p.dim == 64 ? k64 : k128)<<<static_cast<unsigned>(p.batch * p.heads), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// What is right: the new row appended, and the weights' sum and o of keys `first` ... end - 1 against a score.
template <class T, int kDim>
struct Head {
  int sequence, head, col;
  HeadRows<T, kDim> rows;

  __device__ explicit Head(const Decode<T>& p)
      : sequence(static_cast<int>(blockIdx.x) / p.heads),
        head(static_cast<int>(blockIdx.x) % p.heads),
        col(static_cast<int>(threadIdx.x)),
        rows(p, sequence, head) {
    if (rows.room) rows.append();
  }
  __device__ float score(const Decode<T>& p, int key) const {
    float sum = 0;
    for (int d = 0; d < kDim; ++d) {
      sum =
          fmaf(days::to_float(p.q[p.q_pitch.at(sequence, head) + d]), days::to_float(rows.key(key)[d]), sum);
    }
    return sum * p.scale;
  }
  __device__ float value(int key) const { return days::to_float(rows.value(key)[col]); }
  __device__ float most(const Decode<T>& p, int first, int end) const {
    float most = -INFINITY;
    for (int key = first; key < end; ++key) most = fmaxf(most, score(p, key));
    return most;
  }
  // {o, sum}
  __device__ float2 weigh(const Decode<T>& p, int first, int end, float most) const {
    float2 sums = {0, 0};
    for (int key = first; key < end; ++key) {
      const float weight = expf(score(p, key) - most);
      sums.x = fmaf(weight, value(key), sums.x);
      sums.y += weight;
    }
    return sums;
  }
  __device__ void write(const Decode<T>& p, float o, float lse) const {
    days::attention::write_part(p, sequence, head, col, {rows.room ? o : NAN, rows.room ? lse : NAN});
  }
  // Of the keys before `end`.
  __device__ void attend(const Decode<T>& p, int end) const {
    const float largest = most(p, 0, end);
    const float2 sums = weigh(p, 0, end, largest);
    write(p, sums.x / sums.y, largest + logf(sums.y));
  }
};

// The length is taken as it stands: the new row is written, and not looked at.
template <int kDim>
__global__ void without_new(Decode<float> p) {
  const Head<float, kDim> h(p);
  h.attend(p, h.rows.length);
}
constexpr auto new_row_unseen = launch<float, without_new<64>, without_new<128>>;
MUST_REJECT(decode, new_row_unseen, "1 x 1 x 1 x 64: o[0,0,0] is");

// A tile of 64 keys is read to its end; those beyond the last have a weight of 0.
template <int kDim>
__global__ void whole_tiles(Decode<float> p) {
  const Head<float, kDim> h(p);
  const int keys = h.rows.room ? h.rows.keys() : 0, end = min(days::round_up(keys, 64), p.capacity);
  const float largest = h.most(p, 0, keys);
  float2 sums = h.weigh(p, 0, keys, largest);
  for (int key = keys; key < end; ++key) sums.x += 0 * h.value(key);
  h.write(p, sums.x / sums.y, largest + logf(sums.y));
}
constexpr auto nan_behind = launch<float, whole_tiles<64>, whole_tiles<128>>;
MUST_REJECT(decode, nan_behind, "uneven, NaN behind: o[");

// Chunks of 64 keys as far as the cache goes, merged by their lse: an empty one is 0 / 0, and its weight of 0 does
// not help.
template <int kDim>
__global__ void all_chunks(Decode<float> p) {
  const Head<float, kDim> h(p);
  const int keys = h.rows.room ? h.rows.keys() : 0;
  const float largest = h.most(p, 0, keys);
  float sum = 0, o = 0;
  for (int first = 0; first < p.capacity; first += 64) {
    const int end = min(first + 64, keys);
    const float most = h.most(p, first, end);
    const float2 sums = h.weigh(p, first, end, most);
    const float weight = expf(most + logf(sums.y) - largest);
    sum += weight;
    o = fmaf(weight, sums.x / sums.y, o);
  }
  h.write(p, o / sum, largest + logf(sum));
}
constexpr auto empty_chunk = launch<float, all_chunks<64>, all_chunks<128>>;
MUST_REJECT(decode, empty_chunk, "uneven, NaN behind: o[");

// Chunks are averaged by their keys instead of their weights: right as long as all scores are equal.
template <int kDim>
__global__ void by_count(Decode<float> p) {
  const Head<float, kDim> h(p);
  const int keys = h.rows.room ? h.rows.keys() : 0;
  float o = 0;
  for (int first = 0; first < keys; first += 64) {
    const int end = min(first + 64, keys);
    const float2 sums = h.weigh(p, first, end, h.most(p, first, end));
    o += sums.x / sums.y * static_cast<float>(end - first) / static_cast<float>(keys);
  }
  const float largest = h.most(p, 0, keys);
  h.write(p, o, largest + logf(h.weigh(p, 0, keys, largest).y));
}
constexpr auto unweighted = launch<float, by_count<64>, by_count<128>>;
MUST_REJECT(decode, unweighted, "1 x 2 x 65 x 64: o[0,0,0] is");

// ---- 16 bits ----

// A column of o is kept in bf16, as it is written.
template <int kDim>
__global__ void o_in_t(Decode<days::bf16> p) {
  const Head<days::bf16, kDim> h(p);
  const int keys = h.rows.room ? h.rows.keys() : 0;
  const float largest = h.most(p, 0, keys);
  float sum = 0, o = 0;
  for (int key = 0; key < keys; ++key) {
    const float weight = expf(h.score(p, key) - largest);
    sum += weight;
    o = days::to_float(days::from_float<days::bf16>(fmaf(weight, h.value(key), o)));
  }
  h.write(p, o / sum, largest + logf(sum));
}
constexpr auto o_in_bf16 = launch<days::bf16, o_in_t<64>, o_in_t<128>>;
MUST_REJECT(decode, o_in_bf16, "2 x 1 x 257 x 64: o[");

}  // namespace
}  // namespace day49
