// SPDX-License-Identifier: MIT
//
// tensor: Both products by mma.sync, 16 bits in and fp32 sums. A block has 128 queries, a warp 32 of them; copies of the
// next tile are under way while one is multiplied. A block of the first product walks along 512 keys, so that its
// queries are fetched once for them; one of the second along all keys, because its sums stay in registers.
// Changed since tiled: the instruction. Bound by: the trips of the scores, 12 bytes each.
//
// lower: Under a causal mask blocks of scores above the diagonal are neither computed, stored nor read: a row ends with
// the last key that one of the block's 128 queries sees. Blocks with most keys come first, so that the last are short.
// Changed since tensor: where a row ends. Bound by: the trips of half of the scores.

#include <cstdint>

#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day19_self_attention/attention.h"
#include "day19_self_attention/rows.cuh"

namespace day19 {
namespace {

using namespace days::attention;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kRowTiles = 2, kRows = 16 * kRowTiles;
constexpr int kQueries = kRows * kWarps, kWalk = 512;
static_assert(kWalk % kKeys == 0);

// Two tiles of keys by turns, beside the queries.
template <class T, int kDim>
struct ScoresShared {
  Tile<T, kQueries, kDim, true> q;
  Tile<T, 2 * kKeys, kDim, true> k;
};
// Two tiles of weights and of values by turns.
template <class T, int kDim>
struct ValuesShared {
  Tile<T, 2 * kQueries, kKeys, true> w;
  Tile<T, 2 * kKeys, kDim, true> v;
};

// Where the stored rows of the 128 queries from `first` on end: whole tiles.
template <bool kLower, class T>
__device__ int end_of_rows(const Attention<T>& p, int first) {
  if constexpr (!kLower) return static_cast<int>(pitch_of(p));
  const int last = min(first + kQueries, p.seq_q) - 1;
  return static_cast<int>(days::round_up(days::visible_keys(p.causal, last, p.seq_q, p.seq_k), kKeys));
}

// A block's queries: its head, and the first of them there. With kLower the last queries, which see most, come first.
template <bool kLower, class T>
__device__ int2 place_of(const Attention<T>& p, unsigned block) {
  const unsigned down = static_cast<unsigned>(days::ceil_div(p.seq_q, kQueries));
  const unsigned heads = static_cast<unsigned>(p.heads);
  if constexpr (!kLower)
    return make_int2(static_cast<int>(block / down), static_cast<int>(block % down) * kQueries);
  return make_int2(static_cast<int>(block % heads), static_cast<int>(down - 1 - block / heads) * kQueries);
}

template <bool kLower, class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    scores_kernel(const Attention<T> p, float* scores, unsigned walks) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<ScoresShared<T, kDim>*>(memory);
  const int2 place = place_of<kLower>(p, blockIdx.x / walks);
  const int64_t head = place.x;
  const int begin = static_cast<int>(blockIdx.x % walks) * kWalk;
  const int end = min(end_of_rows<kLower>(p, place.y), begin + kWalk);
  if (begin >= end) return;
  const int down =
      static_cast<int>(threadIdx.x) / days::kWarpSize * kRows;  // the warp's first query in the tile
  const int row = place.y + down;
  const T* k = p.k + head * p.seq_k * kDim;
  const auto fetch = [&](int key) {
    if (key < end) load_tile_async<kThreads, kKeys>(shared.k, key % (2 * kKeys), k, key, p.seq_k);
    days::ptx::cp_async_commit_group();
  };
  load_tile_async<kThreads, kQueries>(shared.q, 0, p.q + head * p.seq_q * kDim, place.y, p.seq_q);
  fetch(begin);
  const auto load_q = [&](int step, uint32_t(&a)[kRowTiles][4]) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) load_left(a[m], shared.q, down + 16 * m, step);
  };
  for (int key = begin; key < end; key += kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tile is here for all, and all are done with the one before
    fetch(key + kKeys);

    float sums[kRowTiles][kKeys / 8][4] = {};
    multiply_keys<T>(sums, shared.k, key % (2 * kKeys), load_q);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
      mask(sums[m], p, row + 16 * m, key);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = row + 16 * m + 8 * half + lane_row();
        if (at >= p.seq_q) continue;
        float* to = scores + (head * p.seq_q + at) * pitch_of(p) + key + lane_col();
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {  // four lanes have a sector of a row
          *reinterpret_cast<float2*>(to + 8 * n) =
              make_float2(sums[m][n][2 * half] * p.scale, sums[m][n][2 * half + 1] * p.scale);
        }
      }
    }
  }
}

template <bool kLower, class T>
__global__ void __launch_bounds__(kThreads) softmax_kernel(const Attention<T> p, float* scores) {
  const int row = static_cast<int>(blockIdx.x % static_cast<unsigned>(p.seq_q));
  softmax_row<kThreads, T>(scores + int64_t{blockIdx.x} * pitch_of(p),
                           end_of_rows<kLower>(p, row / kQueries * kQueries), p.lse + blockIdx.x);
}

template <bool kLower, class T, int kDim>
__global__ void __launch_bounds__(kThreads) values_kernel(const Attention<T> p, const float* scores) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<ValuesShared<T, kDim>*>(memory);
  using Weights = Tile<T, 2 * kQueries, kKeys, true>;
  const int2 place = place_of<kLower>(p, blockIdx.x);
  const int64_t head = place.x, pitch = 2 * pitch_of(p);  // of weights
  const int end = end_of_rows<kLower>(p, place.y);
  const int down = static_cast<int>(threadIdx.x) / days::kWarpSize * kRows;
  const T* v = p.v + head * p.seq_k * kDim;

  constexpr int kStep = kThreads / Weights::kChunks;  // rows that the block copies at a time
  static_assert(kStep % 8 == 0, "each pass must meet the same swizzle");
  const int mine = static_cast<int>(threadIdx.x) / Weights::kChunks;
  const int chunk = static_cast<int>(threadIdx.x) % Weights::kChunks;
  const T* w =
      reinterpret_cast<const T*>(scores) + (head * p.seq_q + place.y + mine) * pitch + chunk * kChunk;
  const auto fetch = [&](int key) {
    if (key < end) {
      const int stage = key / kKeys % 2;
      T* to = shared.w.at(stage * kQueries + mine, chunk);
#pragma unroll
      for (int i = 0; i < kQueries; i += kStep) {
        const bool inside = place.y + mine + i < p.seq_q;
        days::ptx::cp_async_cg(to + i * kKeys, inside ? w + i * pitch + key : p.q, inside ? 16 : 0);
      }
      load_tile_async<kThreads, kKeys>(shared.v, stage * kKeys, v, key, p.seq_k);
    }
    days::ptx::cp_async_commit_group();
  };
  fetch(0);
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  float o[kRowTiles][kDim / 8][4] = {};
  for (int key = 0; key < end; key += kKeys) {
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();  // the tiles are here for all, and all are done with those before
    fetch(key + kKeys);
    const int stage = key / kKeys % 2;
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t a[kRowTiles][4];
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) load_left(a[m], shared.w, stage * kQueries + down + 16 * m, step);
#pragma unroll
      for (int d = 0; d < kDim / 8; d += 2) {  // 16 columns of v, transposed on the way into the registers
        uint32_t b[4];
        days::ptx::ldmatrix<true>(b, shared.v.at(stage * kKeys + lane % 16, lane / 16, d, 16 * step));
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          days::attention::mma<T>(o[m][d], a[m], b[0], b[1]);
          days::attention::mma<T>(o[m][d + 1], a[m], b[2], b[3]);
        }
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = place.y + down + 16 * m + 8 * half + lane_row();
      if (at >= p.seq_q) continue;
      T* to = p.o + (head * p.seq_q + at) * kDim + lane_col();
#pragma unroll
      for (int d = 0; d < kDim / 8; ++d)
        *reinterpret_cast<uint32_t*>(to + 8 * d) = pack<T>(o[m][d][2 * half], o[m][d][2 * half + 1]);
    }
  }
}

template <bool kLower, class T>
void launch(const SelfAttention<T>& p, const char* variant, cudaStream_t stream) {
  days::require_needs(p, variant, kAligned);
  for_heads(p, head_bytes(p, pitch_of(p), sizeof(float)), variant, [&](const Attention<T>& part) {
    float* scores = static_cast<float*>(p.workspace.data);
    days::for_dim(p.dim, [&](auto dim) {
      constexpr int kScoresBytes = sizeof(ScoresShared<T, dim>), kValuesBytes = sizeof(ValuesShared<T, dim>);
      const auto multiply_keys = scores_kernel<kLower, T, dim>;
      const auto multiply_values = values_kernel<kLower, T, dim>;
      CUDA_CHECK(
          cudaFuncSetAttribute(multiply_keys, cudaFuncAttributeMaxDynamicSharedMemorySize, kScoresBytes));
      CUDA_CHECK(
          cudaFuncSetAttribute(multiply_values, cudaFuncAttributeMaxDynamicSharedMemorySize, kValuesBytes));
      const int64_t walks = days::ceil_div(p.seq_k, kWalk);
      const unsigned score_blocks = blocks_for(part, days::ceil_div(p.seq_q, kQueries) * walks, 1, variant);
      multiply_keys<<<score_blocks, kThreads, kScoresBytes, stream>>>(part, scores,
                                                                      static_cast<unsigned>(walks));
      CUDA_CHECK_LAUNCH();
      softmax_kernel<kLower, T><<<blocks_for(part, p.seq_q, 1, variant), kThreads, 0, stream>>>(part, scores);
      CUDA_CHECK_LAUNCH();
      const unsigned value_blocks = blocks_for(part, p.seq_q, kQueries, variant);
      multiply_values<<<value_blocks, kThreads, kValuesBytes, stream>>>(part, scores);
      CUDA_CHECK_LAUNCH();
    });
  });
}

}  // namespace

template <class T>
requires Half<T>
void self_tensor(const SelfAttention<T>& p, cudaStream_t stream) {
  launch<false>(p, "tensor", stream);
}
template <class T>
requires Half<T>
void self_lower(const SelfAttention<T>& p, cudaStream_t stream) {
  launch<true>(p, "lower", stream);
}

INSTANTIATE_LAUNCHER(self_tensor, SelfAttention, days::half, days::bf16);
INSTANTIATE_LAUNCHER(self_lower, SelfAttention, days::half, days::bf16);

}  // namespace day19
