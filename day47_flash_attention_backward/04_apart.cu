// SPDX-License-Identifier: MIT
//
// No atomics, and nothing through shared memory but the inputs: one kernel twice, as in tiled. Where keys stay, a block has dk
// and dv; where queries stay, dq. What a warp owns lies down in its registers, so weights and dS are always on the
// left of the next product. It costs two products more, 7 instead of 5, and gives the same bits each time. And as in day
// 43 the next tile is under way meanwhile, a warp owns 32 rows where registers allow it, and tiles that a causal mask
// hides are never fetched. Changed since keys: who makes dq, and how tiles come.
// What should bound it now: the products, and an ldmatrix for two (64 columns: four) of them.

#include <cstdint>

#include "common/attention/pitched.cuh"
#include "common/attention/ring.cuh"
#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"
#include "day47_flash_attention_backward/pairs.cuh"
#include "day47_flash_attention_backward/rows.cuh"

namespace day47 {
namespace {

using namespace days::attention;

// What a GPU of its own may want otherwise.
struct Tuning {
  int row_tiles;  // of 16 rows that stay, a warp
  int walk;       // rows of a tile
  int at_once;    // of them, whose weights are in registers
  bool held;      // fragments of what stays are kept in registers; else they are loaded for each product
};
template <int kDim, bool kKeysStay>
inline constexpr Tuning kTuning = kDim == 64
                                      ? (kKeysStay ? Tuning{2, 64, 32, false} : Tuning{2, 64, 32, true})
                                      : (kKeysStay ? Tuning{1, 64, 32, false} : Tuning{2, 32, 32, false});
constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;

template <class T, int kDim, bool kKeysStay>
struct Shared {
  static constexpr Tuning kUse = kTuning<kDim, kKeysStay>;
  static constexpr int kRows = 16 * kUse.row_tiles, kStay = kRows * kWarps, kWalk = kUse.walk;
  Tile<T, kStay, kDim, true> stays[2];      // k and v, or q and dout
  Tile<T, 2 * kWalk, kDim, true> walks[2];  // q and dout, or k and v: two tiles, filled by turns
  float lse[2 * kWalk], d[2 * kWalk];       // of the queries that walk
};

// One array's rows of a head.
template <class T>
struct Rows {
  const T* data;
  int64_t pitch;
};

// Starts the copy of a tile of two arrays, as one group.
template <int kRows, class Tile, class T>
__device__ __forceinline__ void fetch(Tile (&to)[2], int place, Rows<T> one, Rows<T> other, int first,
                                      int count) {
  load_pitched_async<kThreads, kRows>(to[0], place, one.data, one.pitch, first, count);
  load_pitched_async<kThreads, kRows>(to[1], place, other.data, other.pitch, first, count);
}

template <class T, int kDim, bool kKeysStay>
__global__ void __launch_bounds__(kThreads, 2)
    apart_kernel(const AttentionBackward<T> p, RowData rows, float scale) {
  using S = Shared<T, kDim, kKeysStay>;
  constexpr int kM = S::kUse.row_tiles, kAtOnce = S::kUse.at_once;
  extern __shared__ uint4 memory[];
  S& shared = *reinterpret_cast<S*>(memory);

  // This block's head and rows. Under a causal mask blocks with much to do come first, of all heads: the first keys, and
  // the last queries.
  const int heads = kKeysStay ? p.kv_heads : p.heads, group = p.heads / p.kv_heads;
  const int all = p.batch * heads, blocks = static_cast<int>(gridDim.x) / all,
            block = static_cast<int>(blockIdx.x);
  const int at = p.causal ? block % all : block / blocks, batch = at / heads;
  const int nth = p.causal ? block / all : block % blocks;
  const int first = (p.causal && !kKeysStay ? blocks - 1 - nth : nth) * S::kStay;
  const int mine = static_cast<int>(threadIdx.x) / days::kWarpSize * S::kRows,
            row = first + mine;  // the warp's
  const int kv_head = kKeysStay ? at % heads : at % heads / group;

  const int64_t of_kv = p.of_kv.at(batch, kv_head, 0);
  const Rows<T> k{p.k + of_kv, p.of_kv.token}, v{p.v + of_kv, p.of_kv.token};
  const auto q_of = [&](int head) { return Rows<T>{p.q + p.of_q.at(batch, head, 0), p.of_q.token}; };
  const auto dout_of = [&](int head) { return Rows<T>{p.dout + p.of_o.at(batch, head, 0), p.of_o.token}; };
  const auto row_data = [&](int head) { return (int64_t{batch} * p.heads + head) * rows.pitch; };

  // What walks by, in tiles: the queries of all heads of the group, from the first on that sees a key of the block; or
  // the keys that some query of the block sees.
  const int begin = kKeysStay && p.causal ? max(0, first + p.seq_q - p.seq_k) / S::kWalk * S::kWalk : 0;
  const int end = kKeysStay
                      ? p.seq_q
                      : days::visible_keys(p.causal, min(first + S::kStay, p.seq_q) - 1, p.seq_q, p.seq_k);
  const int tiles = (end - begin + S::kWalk - 1) / S::kWalk, total = tiles * (kKeysStay ? group : 1);
  int next_head = kKeysStay ? kv_head * group : at % heads, next = begin;  // of the tile to be fetched
  const auto fetch_next = [&](int number) {
    if (number < total) {
      const int place = number % 2 * S::kWalk;
      if constexpr (kKeysStay) {
        fetch<S::kWalk>(shared.walks, place, q_of(next_head), dout_of(next_head), next, p.seq_q);
        const int part = static_cast<int>(threadIdx.x) * 4;
        if (part < S::kWalk) {  // these reach beyond the last query
          days::ptx::cp_async_cg(shared.lse + place + part, rows.lse + row_data(next_head) + next + part);
          days::ptx::cp_async_cg(shared.d + place + part, rows.d + row_data(next_head) + next + part);
        }
      } else {
        fetch<S::kWalk>(shared.walks, place, k, v, next, p.seq_k);
      }
      next += S::kWalk;
      if (next >= end) {
        next = begin;
        ++next_head;
      }
    }
    days::ptx::cp_async_commit_group();
  };

  if constexpr (kKeysStay) {
    fetch<S::kStay>(shared.stays, 0, k, v, first, p.seq_k);
  } else {
    fetch<S::kStay>(shared.stays, 0, q_of(next_head), dout_of(next_head), first, p.seq_q);
  }
  days::ptx::cp_async_commit_group();
  fetch_next(0);
  days::ptx::cp_async_wait_group<1>();  // what stays is here
  __syncthreads();

  // The left of both first products: columns 16 * step ... of the warp's rows.
  const auto left = [&](int which) {
    return [&, which](int step, uint32_t(&a)[kM][4]) {
#pragma unroll
      for (int m = 0; m < kM; ++m) load_left(a[m], shared.stays[which], mine + 16 * m, step);
    };
  };
  constexpr int kHeld = S::kUse.held ? kDim / 16 : 1;
  [[maybe_unused]] uint32_t held[2][kHeld][kM][4];
  if constexpr (S::kUse.held) {
#pragma unroll
    for (int step = 0; step < kHeld; ++step) {
      left(0)(step, held[0][step]);
      left(1)(step, held[1][step]);
    }
  }
  [[maybe_unused]] TwoRows own[kM];
  if constexpr (!kKeysStay) {
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) {
      const int64_t from = row_data(at % heads) + row + lane_row() + 8 * i;
      own[i / 2].lse[i % 2] = rows.lse[from];
      own[i / 2].d[i % 2] = rows.d[from];
    }
  }

  float of_ds[kM][kDim / 8][4] = {};                                       // dk or dq
  [[maybe_unused]] float of_weight[kKeysStay ? kM : 1][kDim / 8][4] = {};  // dv
  int tile = begin;
  for (int number = 0; number < total; ++number) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    fetch_next(number + 1);
#pragma unroll 1
    for (int part = 0; part < S::kWalk; part += kAtOnce) {
      const int query = kKeysStay ? tile + part : row, key = kKeysStay ? row : tile + part;
      const int place = number % 2 * S::kWalk + part;
      // The pairs' last query sees no key of theirs, or their first one sees all.
      constexpr int kQueries = kKeysStay ? kAtOnce : S::kRows, kKeys = kKeysStay ? S::kRows : kAtOnce;
      if (days::visible_keys(p.causal, query + kQueries - 1, p.seq_q, p.seq_k) <= key) continue;
      const bool masked = days::visible_keys(p.causal, query, p.seq_q, p.seq_k) < key + kKeys;

      float weight[kM][kAtOnce / 8][4] = {}, ds[kM][kAtOnce / 8][4] = {};
      if constexpr (S::kUse.held) {
        multiply_keys<T>(weight, shared.walks[0], place, kept(held[0]));
        multiply_keys<T>(ds, shared.walks[1], place, kept(held[1]));
      } else {
        multiply_keys<T>(weight, shared.walks[0], place, left(0));
        multiply_keys<T>(ds, shared.walks[1], place, left(1));
      }
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        weigh<kKeysStay>(weight[m], ds[m], p, scale, query + (kKeysStay ? 0 : 16 * m),
                         key + (kKeysStay ? 16 * m : 0), masked, [&](int n) {
                           if constexpr (!kKeysStay) return own[m];
                           const int from = place + 8 * n + lane_col();
                           const float2 lse = *reinterpret_cast<const float2*>(shared.lse + from);
                           const float2 d = *reinterpret_cast<const float2*>(shared.d + from);
                           return TwoRows{{lse.x, lse.y}, {d.x, d.y}};
                         });
      }
      if constexpr (kKeysStay) multiply_values<T>(of_weight, weight, shared.walks[1], place);
      multiply_values<T>(of_ds, ds, shared.walks[0], place);
    }
    tile = tile + S::kWalk >= end ? begin : tile + S::kWalk;
  }

#pragma unroll
  for (int m = 0; m < kM; ++m) {
    const int down = 16 * m;
    if constexpr (kKeysStay) {
      store_sums<T>(of_ds[m], p.scale, shared.stays[0], mine + down, p.dk + of_kv, p.of_kv.token, row + down,
                    p.seq_k);
      store_sums<T>(of_weight[m], 1, shared.stays[1], mine + down, p.dv + of_kv, p.of_kv.token, row + down,
                    p.seq_k);
    } else {
      store_sums<T>(of_ds[m], p.scale, shared.stays[0], mine + down, p.dq + p.of_q.at(batch, at % heads, 0),
                    p.of_q.token, row + down, p.seq_q);
    }
  }
}

template <bool kKeysStay, int kDim, class T>
void launch(const AttentionBackward<T>& p, const RowData& rows, unsigned blocks, cudaStream_t stream) {
  constexpr int kBytes = sizeof(Shared<T, kDim, kKeysStay>);
  const auto kernel = apart_kernel<T, kDim, kKeysStay>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<blocks, kThreads, kBytes, stream>>>(p, rows, p.scale * kLog2E);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
requires Half<T>
void backward_apart(const AttentionBackward<T>& p, cudaStream_t stream) {
  days::require_attention_backward(p, "apart");
  days::require_needs(p, "apart", kAligned);
  for_dim(p.dim, [&](auto dim) {
    const unsigned of_keys =
        days::attention_grid(p.batch, p.kv_heads, p.seq_k, Shared<T, dim, true>::kStay, "apart");
    const unsigned of_queries =
        days::attention_grid(p.batch, p.heads, p.seq_q, Shared<T, dim, false>::kStay, "apart");
    require_workspace(p, "apart", rows_workspace(p));
    const RowData rows = launch_rows(p, kLog2E, stream);
    launch<true, dim>(p, rows, of_keys, stream);
    launch<false, dim>(p, rows, of_queries, stream);
  });
}

INSTANTIATE_LAUNCHER(backward_apart, AttentionBackward, days::half, days::bf16);

}  // namespace day47
