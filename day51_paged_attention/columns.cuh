// SPDX-License-Identifier: MIT
//
// A warp's attention of up to 8 queries that share their keys, 16 keys at a time, on tensor cores. The product is turned round: keys
// are the 16 rows of the accumulator and queries its 8 columns, S^T = K Q^T and O^T = V^T P^T. Nothing goes through shared memory. A lane
// loads 16 bytes of a row at a time, and takes for columns of the product those elements that it then has: which element of a row is
// which column makes no difference to a sum, as long as q has the same order.
//
// Lane 4 * g + t. Of keys: rows g and g + 8, elements 32 i + 8 t ... 8 t + 7. Of values: rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9, elements
// 64 i + 8 g ... 8 g + 7. Of scores: keys g and g + 8, queries 2 t and 2 t + 1.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {

constexpr int kKeys = 16;  // of a tile
constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % days::kWarpSize;
}

// The row number in k and v of a sequence's key: one load from the table, and a division, for pages of any size.
template <class T>
__device__ __forceinline__ uint32_t row_of(const PagedDecode<T>& p, int sequence, int kv_head, int key) {
  const int32_t page = p.table[int64_t{sequence} * p.most_pages + key / p.page];
  return row_in_page(p, page, kv_head, key % p.page);
}

// Which queries a warp has: columns is one of columns_of(p).
struct Group {
  int kv_head, first, count;  // queries first ... first + count - 1

  template <class T>
  __device__ Group(const PagedDecode<T>& p, int columns) {
    const int group = p.heads / p.kv_heads, tiles = days::ceil_div(group, kQueries);
    kv_head = columns / tiles;
    const int skipped = columns % tiles * kQueries;
    first = kv_head * group + skipped;
    count = min(kQueries, group - skipped);
  }
};

// Keys and values of a tile as they come from memory.
template <class T, int kDim>
struct TileBits {
  uint4 k[2][kDim / 32], v[4][kDim / 64];

  // row(i) is the number of the tile's row i in k and v, asked by all lanes; of `valid` rows. The others are 0: a weight of 0 does not
  // make up for a NaN that nobody wrote.
  template <class Row>
  __device__ __forceinline__ void load_keys(const PagedDecode<T>& p, int valid, const Row& row) {
    const int g = lane() / 4, t = lane() % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t from = int64_t{row(g + 8 * half)} * kDim + 8 * t;
#pragma unroll
      for (int i = 0; i < kDim / 32; ++i)
        k[half][i] = g + 8 * half < valid ? *reinterpret_cast<const uint4*>(p.k + from + 32 * i)
                                          : make_uint4(0, 0, 0, 0);
    }
  }
  template <class Row>
  __device__ __forceinline__ void load_values(const PagedDecode<T>& p, int valid, const Row& row) {
    const int g = lane() / 4, t = lane() % 4;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int at = 2 * t + n % 2 + n / 2 * 8;
      const int64_t from = int64_t{row(at)} * kDim + 8 * g;
#pragma unroll
      for (int i = 0; i < kDim / 64; ++i)
        v[n][i] = at < valid ? *reinterpret_cast<const uint4*>(p.v + from + 64 * i) : make_uint4(0, 0, 0, 0);
    }
  }
};

// Half j of each of two words, the first one's below.
__device__ __forceinline__ uint32_t pair(uint4 a, uint4 b, int j) {
  const uint32_t x = j / 2 == 0 ? a.x : j / 2 == 1 ? a.y : j / 2 == 2 ? a.z : a.w;
  const uint32_t y = j / 2 == 0 ? b.x : j / 2 == 1 ? b.y : j / 2 == 2 ? b.z : b.w;
  return __byte_perm(x, y, j % 2 == 0 ? 0x5410 : 0x7632);
}

// The queries, and what has been added up for them.
template <class T, int kDim>
struct Columns {
  uint4 q[kDim / 32];
  float o[kDim / 16][4];
  float most[2], sum[2];  // of queries 2 t and 2 t + 1; `sum` of this lane's keys

  __device__ __forceinline__ void begin(const PagedDecode<T>& p, int sequence, const Group& group) {
    const int g = lane() / 4, t = lane() % 4;
    const T* from = p.q + p.q_pitch.at(sequence, group.first + g) + 8 * t;
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i)
      q[i] = g < group.count ? *reinterpret_cast<const uint4*>(from + 32 * i) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (auto& row : o)
      for (float& x : row) x = 0;
    most[0] = most[1] = -INFINITY;
    sum[0] = sum[1] = 0;
  }

  // S^T of 16 keys.
  __device__ __forceinline__ void score(const TileBits<T, kDim>& tile, float (&s)[4]) const {
    s[0] = s[1] = s[2] = s[3] = 0;
#pragma unroll
    for (int i = 0; i < kDim / 32; ++i) {
      const uint4 low = tile.k[0][i], high = tile.k[1][i];
      days::attention::mma<T>(s, {low.x, high.x, low.y, high.y}, q[i].x, q[i].y);
      days::attention::mma<T>(s, {low.z, high.z, low.w, high.w}, q[i].z, q[i].w);
    }
  }

  // Scores become weights, 2^(scale * (score - most)) with scale = p.scale * log2(e). The reference point grows only where a score is
  // more than 8 powers of two above it (days::attention::online_softmax says why).
  __device__ __forceinline__ void weigh(float (&s)[4], int valid, float scale) {
    const int g = lane() / 4;
    if (g >= valid) s[0] = s[1] = -INFINITY;
    if (g + 8 >= valid) s[2] = s[3] = -INFINITY;
    const float slack = 8 / scale;
    if (__any_sync(days::kFullWarp,
                   fmaxf(s[0], s[2]) > most[0] + slack || fmaxf(s[1], s[3]) > most[1] + slack)) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        float m = fmaxf(s[c], s[c + 2]);
#pragma unroll
        for (int distance = 4; distance < days::kWarpSize; distance *= 2)
          m = fmaxf(m, __shfl_xor_sync(days::kFullWarp, m, distance));
        if (!(m > most[c])) continue;
        const float shrink = days::ptx::ex2_approx_ftz((most[c] - m) * scale);
        most[c] = m;
        sum[c] *= shrink;
#pragma unroll
        for (auto& row : o) row[c] *= shrink, row[c + 2] *= shrink;
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float from = most[i % 2] == -INFINITY ? 0 : most[i % 2] * scale;
      s[i] = days::ptx::ex2_approx_ftz(fmaf(s[i], scale, -from));
      sum[i % 2] += s[i];
    }
  }

  // O^T += V^T P^T.
  __device__ __forceinline__ void add(const TileBits<T, kDim>& tile, const float (&s)[4]) {
    const uint32_t low = days::ptx::movmatrix_trans(days::attention::pack<T>(s[0], s[1])),
                   high = days::ptx::movmatrix_trans(days::attention::pack<T>(s[2], s[3]));
    constexpr int kSecond = kDim == 128 ? 1 : 0,
                  kShift = kDim == 128 ? 0 : 4;  // where the accumulator's rows 8 ... 15 are
    const auto& v = tile.v;
#pragma unroll
    for (int j = 0; j < kDim / 16; ++j) {
      days::attention::mma<T>(o[j],
                              {pair(v[0][0], v[1][0], j), pair(v[0][kSecond], v[1][kSecond], j + kShift),
                               pair(v[2][0], v[3][0], j), pair(v[2][kSecond], v[3][kSecond], j + kShift)},
                              low, high);
    }
  }

  // Calls write(query, lse, first, values) for each query 2 t and 2 t + 1 of `count`: this lane's elements first ... first + 7 of o.
  template <class Write>
  __device__ __forceinline__ void finish(int count, float scale, const Write& write) {
    const int g = lane() / 4, t = lane() % 4;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int distance = 4; distance < days::kWarpSize; distance *= 2)
        sum[c] += __shfl_xor_sync(days::kFullWarp, sum[c], distance);
      if (2 * t + c >= count) continue;
      const float inverse = sum[c] == 0 ? 0 : 1 / sum[c];
      const float lse = most[c] * scale + logf(sum[c]);
#pragma unroll
      for (int part = 0; part < kDim / 64; ++part) {
        float values[8];
#pragma unroll
        for (int i = 0; i < 8; ++i)
          values[i] = (kDim == 128 ? o[i][2 * part + c] : o[i % 4][i / 4 * 2 + c]) * inverse;
        write(2 * t + c, lse, 64 * part + 8 * g, values);
      }
    }
  }
};

// Partial results become one: weight(i) is the lse of each, value(i) its element of o. In the order of i, so that bits are the same
// each time. Without keys o is 0 and lse -infinity.
struct Merged {
  float o, lse;
};
template <class Lse, class Value>
__device__ __forceinline__ Merged merge_partials(int count, const Lse& lse, const Value& value) {
  float most = -INFINITY, sum = 0, o = 0;
  for (int i = 0; i < count; ++i) most = fmaxf(most, lse(i));
  const float from = most == -INFINITY ? 0 : most;
  for (int i = 0; i < count; ++i) {
    const float weight = expf(lse(i) - from);
    sum += weight;
    o = fmaf(weight, value(i), o);
  }
  return {sum == 0 ? 0 : o / sum, most + logf(sum)};
}

// The end of chased and ahead: the block's warps have had different keys of one sequence and group.
template <class T, int kDim>
struct BlockResult {
  float o[kWarps][kQueries][kDim], lse[kWarps][kQueries];

  __device__ void finish(const PagedDecode<T>& p, int sequence, const Group& group, Columns<T, kDim>& mine) {
    const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
    mine.finish(group.count, p.scale, [&](int query, float l, int first, const float(&values)[8]) {
#pragma unroll
      for (int i = 0; i < 8; i += 4)
        *reinterpret_cast<float4*>(&o[warp][query][first + i]) =
            make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
      if (first == 0) lse[warp][query] = l;
    });
    __syncthreads();
    const bool none = keys_of(p, sequence) == 0;
    for (int i = static_cast<int>(threadIdx.x); i < group.count * kDim; i += kThreads) {
      const int query = i / kDim, d = i % kDim, head = group.first + query;
      Merged merged = merge_partials(
          kWarps, [&](int w) { return lse[w][query]; }, [&](int w) { return o[w][query][d]; });
      if (none) merged = {NAN, NAN};
      p.o[p.o_pitch.at(sequence, head) + d] = days::from_float<T>(merged.o);
      if (d == 0) p.lse[int64_t{sequence} * p.heads + head] = merged.lse;
    }
  }
};

// The end of chunks and shares: what one chunk's keys came to.
template <class T, int kDim>
__device__ __forceinline__ void store_partial(const PagedDecode<T>& p, const Partials& all, int64_t chunk,
                                              const Group& group, Columns<T, kDim>& mine) {
  mine.finish(group.count, p.scale, [&](int query, float lse, int first, const float(&values)[8]) {
    const int64_t row = (group.first + query) * all.most + chunk;
#pragma unroll
    for (int i = 0; i < 8; i += 4)
      *reinterpret_cast<float4*>(all.o + row * kDim + first + i) =
          make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
    if (first == 0) all.lse[row] = lse;
  });
}

// What every launcher asks; the blocks of chased and ahead.
template <class T>
unsigned paged_blocks(const PagedDecode<T>& p, const char* variant) {
  days::require_paged_decode(p, variant);
  days::require_needs(p, variant, days::kDecodeAligned);
  return days::grid_of(int64_t{p.sequences} * columns_of(p), 1, variant);
}
// Scores are powers of two.
template <class T>
float scale_log2(const PagedDecode<T>& p) {
  return p.scale * days::attention::kLog2E;
}

}  // namespace day51
