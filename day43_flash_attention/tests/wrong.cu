// SPDX-License-Identifier: MIT
//
// Kernels of day 43 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

constexpr int kTile = 32;  // keys that share a maximum

// A block a query: thread d holds column d of o, and all threads compute all scores.
template <void (*kKernel)(Attention<float>)>
void launch(const Attention<float>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(p.batch * p.heads * p.seq_q), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// This block's query, and the keys and values of its head. Its functions do what is right.
template <class T>
struct Query {
  int64_t at, head;
  int row, d;
  const T *q, *k, *v;

  __device__ explicit Query(const Attention<T>& p)
      : at(blockIdx.x),
        head(at / p.seq_q),
        row(static_cast<int>(at % p.seq_q)),
        d(static_cast<int>(threadIdx.x)),
        q(p.q + at * p.dim),
        k(p.k + head * p.seq_k * p.dim),
        v(p.v + head * p.seq_k * p.dim) {}

  __device__ int keys(const Attention<T>& p) const {
    return days::visible_keys(p.causal, row, p.seq_q, p.seq_k);
  }
  __device__ float score(const Attention<T>& p, int key) const {
    float sum = 0;
    for (int i = 0; i < p.dim; ++i)
      sum = fmaf(days::to_float(q[i]), days::to_float(k[int64_t{key} * p.dim + i]), sum);
    return sum * p.scale;
  }
  __device__ float value(const Attention<T>& p, int key) const {
    return days::to_float(v[int64_t{key} * p.dim + d]);
  }
};

// What a query has of its keys: the score that weights are taken against, their sum, and a column of o before it
// is divided by that.
struct Row {
  float most, sum, o;
};
template <class T>
__device__ float largest_score(const Attention<T>& p, const Query<T>& query, int keys) {
  float most = -INFINITY;
  for (int key = 0; key < keys; ++key) most = fmaxf(most, query.score(p, key));
  return most;
}
template <class T>
__device__ Row weigh(const Attention<T>& p, const Query<T>& query, int keys, float most) {
  Row row = {most, 0, 0};
  for (int key = 0; key < keys; ++key) {
    const float weight = expf(query.score(p, key) - most);
    row.sum += weight;
    row.o += weight * query.value(p, key);
  }
  return row;
}
template <class T>
__device__ Row attend(const Attention<T>& p, const Query<T>& query, int keys) {
  return weigh(p, query, keys, largest_score(p, query, keys));
}
template <class T>
__device__ void write(const Attention<T>& p, const Query<T>& query, float o, float lse) {
  p.o[query.at * p.dim + query.d] = days::from_float<T>(o);
  if (query.d == 0) p.lse[query.at] = lse;
}
template <class T>
__device__ void finish(const Attention<T>& p, const Query<T>& query, const Row& row) {
  write(p, query, row.sum == 0 ? 0 : row.o / row.sum, row.sum == 0 ? -INFINITY : row.most + logf(row.sum));
}

// ---- Online softmax: a tile at a time ----

// Adds a tile's keys to the row, against the row's reference point.
__device__ void add_tile(const Attention<float>& p, const Query<float>& query, int first, int keys,
                         Row& row) {
  for (int key = first; key < min(first + kTile, keys); ++key) {
    const float weight = expf(query.score(p, key) - row.most);
    row.sum += weight;
    row.o += weight * query.value(p, key);
  }
}
__device__ float tile_most(const Attention<float>& p, const Query<float>& query, int first, int keys) {
  float most = -INFINITY;
  for (int key = first; key < min(first + kTile, keys); ++key) most = fmaxf(most, query.score(p, key));
  return most;
}

// A new maximum shrinks the sum and not o.
__global__ void no_rescale(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  Row row = {-INFINITY, 0, 0};
  for (int first = 0; first < keys; first += kTile) {
    const float most = fmaxf(row.most, tile_most(p, query, first, keys));
    row.sum *= expf(row.most - most);
    row.most = most;
    add_tile(p, query, first, keys, row);
  }
  finish(p, query, row);
}
MUST_REJECT(attention, launch<no_rescale>, "1 x 1 x 1 x 333 x 64: o[0,0,0,0] is");

// Weighs against 0: right until exp overflows or all weights vanish.
__global__ void no_maximum(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, weigh(p, query, query.keys(p), 0));
}
MUST_REJECT(attention, launch<no_maximum>, "scores of thousands: o[0,0,0,0] is");

// A short last tile counts keys that are not there as scores of 0.
__global__ void tail_unmasked(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p), more = days::round_up(keys, kTile) - keys;
  Row row = weigh(p, query, keys, fmaxf(largest_score(p, query, keys), more > 0 ? 0 : -INFINITY));
  row.sum += static_cast<float>(more) * expf(0 - row.most);
  finish(p, query, row);
}
MUST_REJECT(attention, launch<tail_unmasked>, "1 x 1 x 1 x 1 x 64: o[0,0,0,0] is");

// A tile at a time, without a guard for a row that has seen no key yet: exp(-inf - -inf) is NaN.
__global__ void no_guard(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  Row row = {-INFINITY, 0, 0};
  for (int first = 0; first < p.seq_k; first += kTile) {
    const float most = fmaxf(row.most, tile_most(p, query, first, keys));
    const float shrink = expf(row.most - most);
    row = {most, row.sum * shrink, row.o * shrink};
    add_tile(p, query, first, keys, row);
  }
  finish(p, query, row);
}
MUST_REJECT(attention, launch<no_guard>, "3 x 1 x 17 x 1 x 128, causal: o[0,0,0,0] is nan, expected 0");

// Masks aligned at the first key instead of the last.
__global__ void top_left(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, attend(p, query, days::visible_keys(p.causal, query.row, p.seq_k, p.seq_k)));
}
MUST_REJECT(causal, launch<top_left>, "3 x 1 x 17 x 1 x 128: o[0,0,0,0] is -1.04467034, expected 0");

// ---- 16 bits ----

template <class T, void (*kKernel)(Attention<T>)>
void launch16(const Attention<T>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(p.batch * p.heads * p.seq_q), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// A column of o is kept in T, as it is written.
template <class T>
__global__ void o_in_t(Attention<T> p) {
  const Query<T> query(p);
  const int keys = query.keys(p);
  Row row = {largest_score(p, query, keys), 0, 0};
  for (int key = 0; key < keys; ++key) {
    const float weight = expf(query.score(p, key) - row.most);
    row.sum += weight;
    row.o = days::to_float(days::from_float<T>(row.o + weight * query.value(p, key)));
  }
  finish(p, query, row);
}
constexpr auto o_in_bf16 = launch16<days::bf16, o_in_t<days::bf16>>;
MUST_REJECT(attention, o_in_bf16, "1 x 1 x 1 x 333 x 64: o[0,0,0,1] is");

}  // namespace
}  // namespace day43
