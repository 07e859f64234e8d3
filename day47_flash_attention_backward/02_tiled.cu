// SPDX-License-Identifier: MIT
//
// One kernel twice: a block keeps 64 rows (32 of 128 columns) of two arrays and lets tiles of 16 rows of two others walk
// by. First keys and values stay, and queries walk with dout; then queries stay with dout, and keys walk with values. A
// thread makes 4 x 1 weights and dS (2 x 1), which go through shared memory, and then adds to 4 x 4 sums (2 x 8) of
// each gradient. Changed since naive: a row is fetched once for 64 others, and an element of shared memory serves 1 to 4
// multiply-adds.
// Bound by: loads from shared memory, 8 of 16 bytes for 64 multiply-adds.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"
#include "day47_flash_attention_backward/rows.cuh"

namespace day47 {
namespace {

constexpr int kAcross = 16, kThreads = 256;  // 16 x 16 threads
constexpr int kWalk = kAcross;               // rows of a tile
template <int kDim>
constexpr int kStay = 4096 / kDim;  // rows of a block
constexpr int kPad = 4;             // floats a row, so that 8 rows' 16 bytes at one column lie in 32 banks

template <int kDim>
struct Shared {
  float stays[2][kStay<kDim>][kDim + kPad];  // k and v, or q and dout
  float walks[2][kWalk][kDim + kPad];        // q and dout, or k and v
  // A row's threads write 16 floats next to each other, and the other half warp's row must lie 16 banks away.
  float weight[kStay<kDim>][kWalk + 256 / kStay<kDim>], ds[kStay<kDim>][kWalk + 256 / kStay<kDim>];
};

__device__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}
__device__ float4 add(float4 sum, float factor, float4 row) {
  return make_float4(fmaf(factor, row.x, sum.x), fmaf(factor, row.y, sum.y), fmaf(factor, row.z, sum.z),
                     fmaf(factor, row.w, sum.w));
}

// Rows first ... of `count` rows that lie `pitch` apart; zeros beyond the last.
template <int kDim, int kHeight>
__device__ void load(float (&to)[kHeight][kDim + kPad], const float* from, int64_t pitch, int first,
                     int count) {
  for (int i = static_cast<int>(threadIdx.x); i < kHeight * kDim / 4; i += kThreads) {
    const int row = i / (kDim / 4), col = i % (kDim / 4) * 4;
    *reinterpret_cast<float4*>(&to[row][col]) =
        first + row < count ? *reinterpret_cast<const float4*>(from + (first + row) * pitch + col)
                            : make_float4(0, 0, 0, 0);
  }
}

template <int kDim, bool kKeysStay>
__global__ void __launch_bounds__(kThreads)
    tiled_kernel(const AttentionBackward<float> p, RowData rows, int blocks_a_head) {
  extern __shared__ float4 memory[];
  Shared<kDim>& s = *reinterpret_cast<Shared<kDim>*>(memory);
  constexpr int kRows = kStay<kDim> / kAcross,
                kParts = kDim / (4 * kAcross);  // float4s of a row that are a thread's
  const int x = static_cast<int>(threadIdx.x) % kAcross, y = static_cast<int>(threadIdx.x) / kAcross * kRows;
  const int first = static_cast<int>(blockIdx.x) % blocks_a_head * kStay<kDim>;
  const int at = static_cast<int>(blockIdx.x) / blocks_a_head, heads = kKeysStay ? p.kv_heads : p.heads;
  const int batch = at / heads, group = p.heads / p.kv_heads;
  const int kv_head = at % heads / (kKeysStay ? 1 : group);
  const float* const k = p.k + p.of_kv.at(batch, kv_head, 0);
  const float* const v = p.v + p.of_kv.at(batch, kv_head, 0);

  if (kKeysStay) {
    load<kDim>(s.stays[0], k, p.of_kv.token, first, p.seq_k);
    load<kDim>(s.stays[1], v, p.of_kv.token, first, p.seq_k);
  } else {
    load<kDim>(s.stays[0], p.q + p.of_q.at(batch, at % heads, 0), p.of_q.token, first, p.seq_q);
    load<kDim>(s.stays[1], p.dout + p.of_o.at(batch, at % heads, 0), p.of_o.token, first, p.seq_q);
  }
  float4 of_ds[kRows][kParts] = {}, of_weight[kRows][kParts] = {};  // dk and dv, or dq and nothing
  const int begin = kKeysStay ? kv_head * group : at % heads, end = kKeysStay ? begin + group : begin + 1;
  for (int head = begin; head < end; ++head) {
    const int64_t of = (int64_t{batch} * p.heads + head) * rows.pitch;
    for (int tile = 0; tile < (kKeysStay ? p.seq_q : p.seq_k); tile += kWalk) {
      __syncthreads();  // all are done with the tile before
      if (kKeysStay) {
        load<kDim>(s.walks[0], p.q + p.of_q.at(batch, head, 0), p.of_q.token, tile, p.seq_q);
        load<kDim>(s.walks[1], p.dout + p.of_o.at(batch, head, 0), p.of_o.token, tile, p.seq_q);
      } else {
        load<kDim>(s.walks[0], k, p.of_kv.token, tile, p.seq_k);
        load<kDim>(s.walks[1], v, p.of_kv.token, tile, p.seq_k);
      }
      __syncthreads();

      float score[kRows] = {}, of_value[kRows] = {};  // of q and k, of dout and v
      for (int d = 0; d < kDim; d += 4) {
        const float4 a = *reinterpret_cast<float4*>(&s.walks[0][x][d]);
        const float4 b = *reinterpret_cast<float4*>(&s.walks[1][x][d]);
        for (int i = 0; i < kRows; ++i) {
          score[i] = dot(*reinterpret_cast<float4*>(&s.stays[0][y + i][d]), a, score[i]);
          of_value[i] = dot(*reinterpret_cast<float4*>(&s.stays[1][y + i][d]), b, of_value[i]);
        }
      }
      for (int i = 0; i < kRows; ++i) {
        const int query = kKeysStay ? tile + x : first + y + i, key = kKeysStay ? first + y + i : tile + x;
        const bool seen = key < days::visible_keys(p.causal, query, p.seq_q, p.seq_k);
        const float weight = seen ? expf(score[i] * p.scale - rows.lse[of + query]) : 0;
        s.weight[y + i][x] = weight;
        s.ds[y + i][x] = seen ? weight * (of_value[i] - rows.d[of + query]) : 0;
      }
      __syncthreads();  // the weights are complete

      for (int j = 0; j < kWalk; ++j) {
        for (int part = 0; part < kParts; ++part) {
          const float4 a = *reinterpret_cast<float4*>(&s.walks[0][j][part * 4 * kAcross + x * 4]);
          for (int i = 0; i < kRows; ++i) of_ds[i][part] = add(of_ds[i][part], s.ds[y + i][j], a);
          if (!kKeysStay) continue;
          const float4 b = *reinterpret_cast<float4*>(&s.walks[1][j][part * 4 * kAcross + x * 4]);
          for (int i = 0; i < kRows; ++i) of_weight[i][part] = add(of_weight[i][part], s.weight[y + i][j], b);
        }
      }
    }
  }

  for (int i = 0; i < kRows; ++i) {
    const int row = first + y + i;
    if (row >= (kKeysStay ? p.seq_k : p.seq_q)) continue;
    const int64_t to = kKeysStay ? p.of_kv.at(batch, kv_head, row) : p.of_q.at(batch, at % heads, row);
    for (int part = 0; part < kParts; ++part) {
      const int col = part * 4 * kAcross + x * 4;
      *reinterpret_cast<float4*>((kKeysStay ? p.dk : p.dq) + to + col) =
          add(make_float4(0, 0, 0, 0), p.scale, of_ds[i][part]);
      if (kKeysStay) *reinterpret_cast<float4*>(p.dv + to + col) = of_weight[i][part];
    }
  }
}

}  // namespace

void backward_tiled(const AttentionBackward<float>& p, cudaStream_t stream) {
  days::require_attention_backward(p, "tiled");
  days::require_needs(p, "tiled", kAligned);
  require_workspace(p, "tiled", rows_workspace(p));
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<dim>);
    const unsigned of_keys = days::attention_grid(p.batch, p.kv_heads, p.seq_k, kStay<dim>, "tiled");
    const unsigned of_queries = days::attention_grid(p.batch, p.heads, p.seq_q, kStay<dim>, "tiled");
    const auto keys = tiled_kernel<dim, true>, queries = tiled_kernel<dim, false>;
    CUDA_CHECK(cudaFuncSetAttribute(keys, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    CUDA_CHECK(cudaFuncSetAttribute(queries, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    const RowData rows = launch_rows(p, 1, stream);
    keys<<<of_keys, kThreads, kBytes, stream>>>(p, rows, days::ceil_div(p.seq_k, kStay<dim>));
    CUDA_CHECK_LAUNCH();
    queries<<<of_queries, kThreads, kBytes, stream>>>(p, rows, days::ceil_div(p.seq_q, kStay<dim>));
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace day47
