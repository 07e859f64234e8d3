// SPDX-License-Identifier: MIT
//
// Kernels of day 47 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"

namespace day47 {
namespace {

// What is right. A wrong kernel has another version of one of these.
struct Right {
  template <class T>
  static __device__ float dot(const T* a, const T* b, int dim) {
    float sum = 0;
    for (int i = 0; i < dim; ++i) sum = fmaf(days::to_float(a[i]), days::to_float(b[i]), sum);
    return sum;
  }
  // A sum of dk, dv or dq, of which `more` is another term.
  template <class T>
  static __device__ float plus(float sum, float more) {
    return sum + more;
  }
  // D of a query; `key` is the one that wants it.
  template <class T>
  static __device__ float row_d(const AttentionBackward<T>& p, int batch, int head, int row, int /*key*/) {
    const int64_t at = p.of_o.at(batch, head, row);
    return dot(p.dout + at, p.o + at, p.dim);
  }
  template <class T>
  static __device__ float weight(const AttentionBackward<T>& p, int batch, int head, int row, int key) {
    if (key >= days::visible_keys(p.causal, row, p.seq_q, p.seq_k)) return 0;
    const float score = dot(p.q + p.of_q.at(batch, head, row),
                            p.k + p.of_kv.at(batch, head / (p.heads / p.kv_heads), key), p.dim);
    return expf(score * p.scale - p.lse[(int64_t{batch} * p.heads + head) * p.seq_q + row]);
  }
  template <class T>
  static __device__ float value(const AttentionBackward<T>& p, int batch, int head, int row, int key) {
    return dot(p.dout + p.of_o.at(batch, head, row),
               p.v + p.of_kv.at(batch, head / (p.heads / p.kv_heads), key), p.dim);
  }
  template <class T>
  static __device__ float factor(const AttentionBackward<T>& p) {
    return p.scale;
  }
  template <class T>
  static __device__ int first_head(const AttentionBackward<T>& p, int kv_head) {
    return kv_head * (p.heads / p.kv_heads);
  }
  static __device__ float before(float) { return 0; }
};

// A block a row of dk and dv, then one a row of dq; thread d has column d.
template <class T, class How>
__global__ void keys_kernel(AttentionBackward<T> p) {
  const int key = static_cast<int>(blockIdx.x) % p.seq_k, at = static_cast<int>(blockIdx.x) / p.seq_k;
  const int kv_head = at % p.kv_heads, batch = at / p.kv_heads, d = static_cast<int>(threadIdx.x);
  float dk = 0, dv = 0;
  for (int head = How::first_head(p, kv_head); head < (kv_head + 1) * (p.heads / p.kv_heads); ++head) {
    for (int row = 0; row < p.seq_q; ++row) {
      const float weight = How::weight(p, batch, head, row, key);
      if (weight == 0) continue;
      const float ds = weight * (How::value(p, batch, head, row, key) - How::row_d(p, batch, head, row, key));
      dk = How::template plus<T>(dk, ds * days::to_float(p.q[p.of_q.at(batch, head, row) + d]));
      dv = How::template plus<T>(dv, weight * days::to_float(p.dout[p.of_o.at(batch, head, row) + d]));
    }
  }
  const int64_t to = p.of_kv.at(batch, kv_head, key) + d;
  p.dk[to] = days::from_float<T>(dk * How::factor(p));
  p.dv[to] = days::from_float<T>(dv);
}
template <class T, class How>
__global__ void queries_kernel(AttentionBackward<T> p) {
  const int row = static_cast<int>(blockIdx.x) % p.seq_q, at = static_cast<int>(blockIdx.x) / p.seq_q;
  const int head = at % p.heads, batch = at / p.heads, d = static_cast<int>(threadIdx.x);
  const int64_t to = p.of_q.at(batch, head, row) + d;
  float dq = How::before(days::to_float(p.dq[to]));
  for (int key = 0; key < p.seq_k; ++key) {
    const float weight = How::weight(p, batch, head, row, key);
    if (weight == 0) continue;
    const float ds = weight * (How::value(p, batch, head, row, key) - How::row_d(p, batch, head, row, key));
    const int64_t of_key = p.of_kv.at(batch, head / (p.heads / p.kv_heads), key);
    dq = How::template plus<T>(dq, ds * days::to_float(p.k[of_key + d]));
  }
  p.dq[to] = days::from_float<T>(dq * How::factor(p));
}
template <class How, class T = float>
void launch(const AttentionBackward<T>& p, cudaStream_t stream) {
  keys_kernel<T, How><<<static_cast<unsigned>(p.batch * p.kv_heads * p.seq_k), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  queries_kernel<T, How><<<static_cast<unsigned>(p.batch * p.heads * p.seq_q), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// D as the sum of P * dP over the 32 keys of the tile, and not of all keys.
struct TileD : Right {
  template <class T>
  static __device__ float row_d(const AttentionBackward<T>& p, int batch, int head, int row, int key) {
    float sum = 0;
    for (int j = key / 32 * 32; j < min(key / 32 * 32 + 32, p.seq_k); ++j)
      sum += weight(p, batch, head, row, j) * value(p, batch, head, row, j);
    return sum;
  }
};
constexpr auto tile_d = launch<TileD>;
MUST_REJECT(backward, tile_d, "1 x 2 x 1 x 1 x 139 x 64: dq[0,0,0,0] is");

// The scale is in the scores, and forgotten in their gradients.
struct Unscaled : Right {
  template <class T>
  static __device__ float factor(const AttentionBackward<T>&) {
    return 1;
  }
};
constexpr auto unscaled = launch<Unscaled>;
MUST_REJECT(backward, unscaled, "1 x 2 x 1 x 1 x 139 x 64: dq[0,0,0,0] is");

// Masks by a factor: the row of a query without keys has lse -infinity, and infinity times 0 is NaN.
struct MaskedByFactor : Right {
  template <class T>
  static __device__ float weight(const AttentionBackward<T>& p, int batch, int head, int row, int key) {
    AttentionBackward<T> open = p;
    open.causal = false;
    const bool seen = key < days::visible_keys(p.causal, row, p.seq_q, p.seq_k);
    return Right::weight(open, batch, head, row, key) * (seen ? 1.0f : 0.0f);
  }
};
constexpr auto masked_by_factor = launch<MaskedByFactor>;
MUST_REJECT(backward, masked_by_factor, "3 x 1 x 1 x 17 x 1 x 128, packed, causal: dq[0] is nan, expected 0");

// dk and dv of the last query head of a group, not of all.
struct LastOfGroup : Right {
  template <class T>
  static __device__ int first_head(const AttentionBackward<T>& p, int kv_head) {
    return (kv_head + 1) * (p.heads / p.kv_heads) - 1;
  }
};
constexpr auto last_of_group = launch<LastOfGroup>;
MUST_REJECT(backward, last_of_group, "1 x 2 x 1 x 1 x 139 x 64: dk[0,0,0,0] is");

// dq is added to what was there.
struct NotCleared : Right {
  static __device__ float before(float x) { return x; }
};
constexpr auto not_cleared = launch<NotCleared>;
MUST_REJECT(backward, not_cleared, "1 x 1 x 1 x 1 x 1 x 64: dq[0,0,0,0] is");

// ---- 16 bits ----

// Sums are kept in T, as they are written.
struct SumsInT : Right {
  template <class T>
  static __device__ float plus(float sum, float more) {
    return days::to_float(days::from_float<T>(sum + more));
  }
};
constexpr auto sums_in_bf16 = launch<SumsInT, days::bf16>;
MUST_REJECT(backward, sums_in_bf16, "] is");

}  // namespace
}  // namespace day47
