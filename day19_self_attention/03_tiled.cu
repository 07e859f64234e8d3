// SPDX-License-Identifier: MIT
//
// Both products by day 39's tiles: a block has 64 x 64 results, a thread 4 x 4 of them in registers, and 16 steps of the
// depth lie in shared memory at a time. Changed since in_place: two loads of 16 bytes from shared memory serve 16
// multiply-adds, and each element comes from global memory once a block. Rows of scores take whole tiles of 64 keys.
// Bound by: FFMA, and behind it the trips of the scores.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day19_self_attention/attention.h"
#include "day19_self_attention/rows.cuh"

namespace day19 {
namespace {

constexpr int kTile = 64, kDepth = 16, kEach = 4, kAcross = kTile / kEach;
constexpr int kThreads = kAcross * kAcross, kRowThreads = 128;
static_assert(kTile == kKeys);

struct Shared {
  float a[kDepth][kTile + 4], b[kDepth][kTile + 4];  // columns of a, rows of b
};

// What this thread has of a tile: rows y ... y + 3 and columns x ... x + 3.
__device__ int x_of_thread() {
  return static_cast<int>(threadIdx.x) % kAcross * kEach;
}
__device__ int y_of_thread() {
  return static_cast<int>(threadIdx.x) / kAcross * kEach;
}

// The tile's rows along the depth: lanes have neighbours of the depth, and leave them below one another.
template <class Element>
__device__ void load_along(float (&to)[kDepth][kTile + 4], const Element& element) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kDepth; i += kThreads)
    to[i % kDepth][i / kDepth] = element(i / kDepth, i % kDepth);
}

__device__ void multiply(const Shared& s, float (&sums)[kEach][kEach]) {
  const int x = x_of_thread(), y = y_of_thread();
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
    const float4 a4 = *reinterpret_cast<const float4*>(&s.a[d][y]);
    const float4 b4 = *reinterpret_cast<const float4*>(&s.b[d][x]);
    const float a[kEach] = {a4.x, a4.y, a4.z, a4.w}, b[kEach] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int j = 0; j < kEach; ++j) sums[i][j] += a[i] * b[j];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) scores_kernel(const Attention<T> p, float* scores) {
  __shared__ __align__(16) Shared s;
  const unsigned across = static_cast<unsigned>(pitch_of(p) / kTile);
  const unsigned down = static_cast<unsigned>(days::ceil_div(p.seq_q, kTile));
  const int key0 = static_cast<int>(blockIdx.x % across) * kTile;
  const int row0 = static_cast<int>(blockIdx.x / across % down) * kTile;
  const int64_t head = blockIdx.x / across / down;
  const T* q = p.q + (head * p.seq_q + row0) * p.dim;
  const T* k = p.k + (head * p.seq_k + key0) * p.dim;
  float sums[kEach][kEach] = {};
  for (int d0 = 0; d0 < p.dim; d0 += kDepth) {
    load_along(s.a, [&](int row, int d) {
      return row0 + row < p.seq_q ? days::to_float(q[int64_t{row} * p.dim + d0 + d]) : 0.0f;
    });
    load_along(s.b, [&](int key, int d) {
      return key0 + key < p.seq_k ? days::to_float(k[int64_t{key} * p.dim + d0 + d]) : 0.0f;
    });
    __syncthreads();
    multiply(s, sums);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = row0 + y_of_thread() + i;
    if (row >= p.seq_q) continue;
    const int seen = days::visible_keys(p.causal, row, p.seq_q, p.seq_k) - key0 - x_of_thread();
#pragma unroll
    for (int j = 0; j < kEach; ++j) sums[i][j] = j < seen ? sums[i][j] * p.scale : -INFINITY;
    *reinterpret_cast<float4*>(scores + (head * p.seq_q + row) * pitch_of(p) + key0 + x_of_thread()) =
        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) softmax_kernel(const Attention<T> p, float* scores) {
  softmax_row<kRowThreads, T>(scores + int64_t{blockIdx.x} * pitch_of(p), static_cast<int>(pitch_of(p)),
                              p.lse + blockIdx.x);
}

template <class T>
__global__ void __launch_bounds__(kThreads) values_kernel(const Attention<T> p, const float* scores) {
  __shared__ __align__(16) Shared s;
  const unsigned across = static_cast<unsigned>(p.dim / kTile);
  const unsigned down = static_cast<unsigned>(days::ceil_div(p.seq_q, kTile));
  const int col0 = static_cast<int>(blockIdx.x % across) * kTile;
  const int row0 = static_cast<int>(blockIdx.x / across % down) * kTile;
  const int64_t head = blockIdx.x / across / down;
  const int64_t pitch = pitch_of(p);
  const T* v = p.v + head * p.seq_k * p.dim + col0;
  float sums[kEach][kEach] = {};
  for (int key0 = 0; key0 < p.seq_k; key0 += kDepth) {
    load_along(s.a, [&](int row, int d) {
      if (row0 + row >= p.seq_q) return 0.0f;
      const T* weights = reinterpret_cast<const T*>(scores + (head * p.seq_q + row0 + row) * pitch);
      return days::to_float(weights[key0 + d]);
    });
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kDepth; i += kThreads) {
      const int key = key0 + i / kTile, col = i % kTile;
      s.b[i / kTile][col] = key < p.seq_k ? days::to_float(v[int64_t{key} * p.dim + col]) : 0.0f;
    }
    __syncthreads();
    multiply(s, sums);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = row0 + y_of_thread() + i;
    if (row >= p.seq_q) continue;
    T* o = p.o + (head * p.seq_q + row) * p.dim + col0 + x_of_thread();
#pragma unroll
    for (int j = 0; j < kEach; ++j) o[j] = days::from_float<T>(sums[i][j]);
  }
}

}  // namespace

template <class T>
void self_tiled(const SelfAttention<T>& p, cudaStream_t stream) {
  for_heads(p, head_bytes(p, pitch_of(p), sizeof(float)), "tiled", [&](const Attention<T>& part) {
    float* scores = static_cast<float*>(p.workspace.data);
    const int64_t down = days::ceil_div(p.seq_q, kTile);
    const unsigned score_blocks = blocks_for(part, down * (pitch_of(p) / kTile), 1, "tiled");
    scores_kernel<T><<<score_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
    softmax_kernel<T><<<blocks_for(part, p.seq_q, 1, "tiled"), kRowThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
    const unsigned value_blocks = blocks_for(part, down * (p.dim / kTile), 1, "tiled");
    values_kernel<T><<<value_blocks, kThreads, 0, stream>>>(part, scores);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(self_tiled, SelfAttention, float, days::half, days::bf16);

}  // namespace day19
