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

// A new maximum shrinks o and not the sum.
__global__ void old_sum(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  Row row = {-INFINITY, 0, 0};
  for (int first = 0; first < keys; first += kTile) {
    const float most = fmaxf(row.most, tile_most(p, query, first, keys));
    row.o *= expf(row.most - most);
    row.most = most;
    add_tile(p, query, first, keys, row);
  }
  finish(p, query, row);
}
MUST_REJECT(attention, launch<old_sum>, "1 x 1 x 1 x 333 x 64: o[0,0,0,0] is");

// Weighs against 0: right until exp overflows or all weights vanish.
__global__ void no_maximum(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, weigh(p, query, query.keys(p), 0));
}
MUST_REJECT(attention, launch<no_maximum>, "scores of thousands: o[0,0,0,0] is");

// The largest score so far starts at 0, not at -infinity.
__global__ void zero_maximum(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  finish(p, query, weigh(p, query, keys, fmaxf(0, largest_score(p, query, keys))));
}
MUST_REJECT(attention, launch<zero_maximum>, "scores of thousands: o[0,0,0,0] is");

// ---- Scores, weights, and what is written of them ----

// Scores as they come from the product.
__global__ void no_scale(Attention<float> p) {
  const Query<float> query(p);
  p.scale = 1;
  finish(p, query, attend(p, query, query.keys(p)));
}
MUST_REJECT(attention, launch<no_scale>, "lse[0,0,0] is -1.37809873, expected -0.172262415");

// A short last tile counts keys that are not there as scores of 0.
__global__ void tail_unmasked(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p), more = days::round_up(keys, kTile) - keys;
  Row row = weigh(p, query, keys, fmaxf(largest_score(p, query, keys), more > 0 ? 0 : -INFINITY));
  row.sum += static_cast<float>(more) * expf(0 - row.most);
  finish(p, query, row);
}
MUST_REJECT(attention, launch<tail_unmasked>, "1 x 1 x 1 x 1 x 64: o[0,0,0,0] is");

// Whole tiles of keys alone.
__global__ void drops_tail(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  finish(p, query, attend(p, query, keys > kTile ? keys / kTile * kTile : keys));
}
MUST_REJECT(attention, launch<drops_tail>, "1 x 1 x 1 x 333 x 64: o[0,0,0,0] is");

// All heads share the first head's keys.
__global__ void first_head(Attention<float> p) {
  Query<float> query(p);
  query.k = p.k;
  finish(p, query, attend(p, query, query.keys(p)));
}
MUST_REJECT(attention, launch<first_head>, "3 x 1 x 17 x 1 x 128: lse[");

// lse in base 2.
__global__ void log_two(Attention<float> p) {
  const Query<float> query(p);
  const Row row = attend(p, query, query.keys(p));
  write(p, query, row.o / row.sum, 1.44269504f * (row.most + logf(row.sum)));
}
MUST_REJECT(attention, launch<log_two>, "lse[0,0,0] is -0.248522028, expected -0.172262415");

// lse without the maximum.
__global__ void lse_no_maximum(Attention<float> p) {
  const Query<float> query(p);
  const Row row = attend(p, query, query.keys(p));
  write(p, query, row.o / row.sum, logf(row.sum));
}
MUST_REJECT(attention, launch<lse_no_maximum>, "lse[0,0,0] is 0, expected -0.172262415");

// o is not divided by the sum.
__global__ void unnormalised(Attention<float> p) {
  const Query<float> query(p);
  const Row row = attend(p, query, query.keys(p));
  write(p, query, row.o, row.most + logf(row.sum));
}
MUST_REJECT(attention, launch<unnormalised>, "1 x 1 x 1 x 333 x 64: o[0,0,0,0] is");

// Weights rounded to half, where the inputs are float.
__global__ void half_weights(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  Row row = {largest_score(p, query, keys), 0, 0};
  for (int key = 0; key < keys; ++key) {
    const float weight = expf(query.score(p, key) - row.most);
    row.sum += weight;
    row.o += __half2float(__float2half_rn(weight)) * query.value(p, key);
  }
  finish(p, query, row);
}
MUST_REJECT(attention, launch<half_weights>, "1 x 1 x 1 x 333 x 64: o[0,0,0,1] is");

// ---- Causal masks ----

// Sees every key, whatever p.causal says. The first ladder, by which ./days check judges, must reject it, too.
__global__ void no_mask(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, attend(p, query, p.seq_k));
}
MUST_REJECT(attention, launch<no_mask>,
            "3 x 1 x 17 x 1 x 128, causal: o[0,0,0,0] is -1.04467034, expected 0");

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

// A query does not see its own position.
__global__ void mask_early(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, attend(p, query, max(query.keys(p) - 1, 0)));
}
MUST_REJECT(causal, launch<mask_early>, "1 x 1 x 1 x 1 x 64: o[0,0,0,0] is 0, expected");

// A query sees one position too many.
__global__ void mask_late(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, attend(p, query, min(query.keys(p) + 1, p.seq_k)));
}
MUST_REJECT(causal, launch<mask_late>, "3 x 1 x 17 x 1 x 128: o[0,0,0,0] is -1.04467034, expected 0");

// Masks aligned at the first key instead of the last.
__global__ void top_left(Attention<float> p) {
  const Query<float> query(p);
  finish(p, query, attend(p, query, days::visible_keys(p.causal, query.row, p.seq_k, p.seq_k)));
}
MUST_REJECT(causal, launch<top_left>, "3 x 1 x 17 x 1 x 128: o[0,0,0,0] is -1.04467034, expected 0");

// Skipping goes one tile too far.
__global__ void skips_tile(Attention<float> p) {
  const Query<float> query(p);
  const int keys = query.keys(p);
  finish(p, query, attend(p, query, keys < p.seq_k ? keys / kTile * kTile : keys));
}
MUST_REJECT(causal, launch<skips_tile>, "1 x 3 x 63 x 65 x 64: o[0,0,0,0] is 0, expected");

// A query that sees no key gets the mean of all values, as exp(-inf - -inf) = 1 would.
__global__ void masked_mean(Attention<float> p) {
  const Query<float> query(p);
  if (const int keys = query.keys(p); keys > 0) return finish(p, query, attend(p, query, keys));
  float mean = 0;
  for (int key = 0; key < p.seq_k; ++key) mean += query.value(p, key) / p.seq_k;
  write(p, query, mean, -INFINITY);
}
MUST_REJECT(causal, launch<masked_mean>, "3 x 1 x 17 x 1 x 128: o[0,0,0,0] is -1.04467034, expected 0");

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
constexpr auto o_in_half = launch16<days::half, o_in_t<days::half>>;
constexpr auto o_in_bf16 = launch16<days::bf16, o_in_t<days::bf16>>;
MUST_REJECT(attention, o_in_half, "1 x 1 x 1 x 333 x 64: o[0,0,0,0] is");
MUST_REJECT(attention, o_in_bf16, "1 x 1 x 1 x 333 x 64: o[0,0,0,1] is");

// Scores are kept in fp16, which ends at 65,504.
__global__ void half_scores_kernel(Attention<days::half> p) {
  const Query<days::half> query(p);
  const int keys = query.keys(p);
  const auto score = [&](int key) {
    return __half2float(__float2half_rn(query.score(p, key) / p.scale)) * p.scale;
  };
  Row row = {-INFINITY, 0, 0};
  for (int key = 0; key < keys; ++key) row.most = fmaxf(row.most, score(key));
  for (int key = 0; key < keys; ++key) {
    const float weight = expf(score(key) - row.most);
    row.sum += weight;
    row.o += weight * query.value(p, key);
  }
  finish(p, query, row);
}
constexpr auto half_scores = launch16<days::half, half_scores_kernel>;
MUST_REJECT(attention, half_scores, "o: right; lse: 1 of 1 wrong");

// Masks two fp16 scores at a time, as one register holds them: with an odd number of keys one too many is seen.
__global__ void sees_pairs_kernel(Attention<days::half> p) {
  const Query<days::half> query(p);
  const int keys = query.keys(p);
  finish(p, query, attend(p, query, min(days::round_up(keys, 2), p.seq_k)));
}
constexpr auto sees_pairs = launch16<days::half, sees_pairs_kernel>;
MUST_REJECT(causal, sees_pairs, "1 x 3 x 63 x 65 x 64: o[0,0,0,0] is");

}  // namespace
}  // namespace day43
