// SPDX-License-Identifier: MIT
//
// A block of 256 threads takes 64 queries, and 32 keys at a time through shared memory. A thread computes 4 x
// 2 scores, then 4 x dim/16 elements of o; scores become weights in shared memory in between. Changed since
// naive: a key is fetched once for 64 queries, and an element of shared memory serves 2 to 4 multiply-adds.
// Bound by: loads from shared memory, 6 of 16 bytes for 32 multiply-adds.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

constexpr int kQueries = 64, kKeys = 32;
constexpr int kAcross = 16, kThreads = 256;                         // 16 x 16 threads
constexpr int kRows = kQueries / kAcross, kCols = kKeys / kAcross;  // of scores a thread: 4 x 2
constexpr int kPad = 4;  // floats a row, so that 8 rows' 16 bytes at one column lie in 32 different banks

template <int kDim>
struct Shared {
  float q[kQueries][kDim];
  float kv[kKeys][kDim + kPad];  // keys, then values
  float weights[kQueries][kKeys + kPad];
};

__device__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

// Rows first ... of (count, kDim) elements; zeros beyond the last.
template <int kDim, int kHeight, int kWidth>
__device__ void load(float (&to)[kHeight][kWidth], const float* from, int first, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < kHeight * kDim / 4; i += kThreads) {
    const int row = i / (kDim / 4), col = i % (kDim / 4) * 4;
    *reinterpret_cast<float4*>(&to[row][col]) =
        first + row < count ? *reinterpret_cast<const float4*>(from + int64_t{first + row} * kDim + col)
                            : make_float4(0, 0, 0, 0);
  }
}

// Over the 16 threads of a row, which are half a warp.
template <class Op>
__device__ float row_reduce(float x, Op op) {
  for (int distance = kAcross / 2; distance > 0; distance /= 2)
    x = op(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}

template <int kDim>
__global__ void __launch_bounds__(kThreads) tiled_kernel(const Attention<float> p, int blocks_a_head) {
  extern __shared__ float4 memory[];
  Shared<kDim>& s = *reinterpret_cast<Shared<kDim>*>(memory);
  constexpr int kParts = kDim / (4 * kAcross);  // float4s of a row of o that are a thread's
  const int x = static_cast<int>(threadIdx.x) % kAcross, y = static_cast<int>(threadIdx.x) / kAcross * kRows;
  const int64_t head = blockIdx.x / static_cast<unsigned>(blocks_a_head);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks_a_head)) * kQueries;
  const float* k = p.k + head * p.seq_k * kDim;
  const float* v = p.v + head * p.seq_k * kDim;

  load<kDim>(s.q, p.q + head * p.seq_q * kDim, first, p.seq_q);
  float4 o[kRows][kParts] = {};
  float most[kRows], sum[kRows] = {};
  for (float& m : most) m = -INFINITY;
  for (int key = 0; key < p.seq_k; key += kKeys) {
    __syncthreads();  // all are done with the values that were here
    load<kDim>(s.kv, k, key, p.seq_k);
    __syncthreads();

    float score[kRows][kCols] = {};
    for (int d = 0; d < kDim; d += 4) {
      float4 b[kCols];
      for (int j = 0; j < kCols; ++j) b[j] = *reinterpret_cast<float4*>(&s.kv[x + j * kAcross][d]);
      for (int i = 0; i < kRows; ++i) {
        const float4 a = *reinterpret_cast<float4*>(&s.q[y + i][d]);
        for (int j = 0; j < kCols; ++j) score[i][j] = dot(a, b[j], score[i][j]);
      }
    }

    for (int i = 0; i < kRows; ++i) {
      const int keys = days::visible_keys(p.causal, first + y + i, p.seq_q, p.seq_k) - key;
      float tile_most = most[i];
      for (int j = 0; j < kCols; ++j) {
        score[i][j] = x + j * kAcross < keys ? score[i][j] * p.scale : -INFINITY;
        tile_most = fmaxf(tile_most, score[i][j]);
      }
      tile_most = row_reduce(tile_most, [](float a, float b) { return fmaxf(a, b); });
      const float from = tile_most == -INFINITY ? 0 : tile_most;  // no key so far: exp(-inf - 0) is 0
      const float shrink = expf(most[i] - from);
      most[i] = tile_most;
      sum[i] *= shrink;
      for (int j = 0; j < kCols; ++j) {
        const float weight = expf(score[i][j] - from);
        sum[i] += weight;
        s.weights[y + i][x + j * kAcross] = weight;
      }
      for (float4& part : o[i])
        part = make_float4(part.x * shrink, part.y * shrink, part.z * shrink, part.w * shrink);
    }
    __syncthreads();  // all are done with the keys, and the weights are complete
    load<kDim>(s.kv, v, key, p.seq_k);
    __syncthreads();

    for (int j = 0; j < kKeys; ++j) {
      for (int part = 0; part < kParts; ++part) {
        const float4 b = *reinterpret_cast<float4*>(&s.kv[j][part * 4 * kAcross + x * 4]);
        for (int i = 0; i < kRows; ++i) {
          const float weight = s.weights[y + i][j];
          float4& c = o[i][part];
          c = make_float4(fmaf(weight, b.x, c.x), fmaf(weight, b.y, c.y), fmaf(weight, b.z, c.z),
                          fmaf(weight, b.w, c.w));
        }
      }
    }
  }

  for (int i = 0; i < kRows; ++i) {
    const float total = row_reduce(sum[i], [](float a, float b) { return a + b; });
    if (first + y + i >= p.seq_q) continue;
    const int64_t row = head * p.seq_q + first + y + i;
    const float inverse = total == 0 ? 0 : 1 / total;
    for (int part = 0; part < kParts; ++part) {
      const float4 c = o[i][part];
      *reinterpret_cast<float4*>(p.o + row * kDim + part * 4 * kAcross + x * 4) =
          make_float4(c.x * inverse, c.y * inverse, c.z * inverse, c.w * inverse);
    }
    if (x == 0) p.lse[row] = most[i] + logf(total);
  }
}

}  // namespace

void attention_tiled(const Attention<float>& p, cudaStream_t stream) {
  days::require_attention(p, "tiled");
  days::require_needs(p, "tiled", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "tiled");
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<dim>);
    const auto kernel = tiled_kernel<dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace day43
