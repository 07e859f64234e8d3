// SPDX-License-Identifier: MIT
//
// Tensor cores: both products by mma.sync, 16 x 8 x 16 an instruction, 64 times the multiply-adds of an FFMA.
// A block of four warps has 64 queries, a warp 16 of them; q's fragments stay in registers, and so do the
// weights: an accumulator of the first product is, rounded, a fragment of the second. Changed since tiled:
// the instruction, and that shared memory holds no weights.
// Bound by: bank conflicts of ldmatrix, whose 8 rows of 16 bytes lie 128 or 256 bytes apart; and every tile
// is waited for.
// Teaches: mma_m16n8k16_f32_f16_f16_f32, mma_m16n8k16_f32_bf16_bf16_f32, ldmatrix.

#include <cstdint>

#include "common/attention/softmax.cuh"
#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

using namespace days::attention;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kQueries = 16 * kWarps, kKeys = 64;

template <class T, int kDim>
struct Shared {
  Tile<T, kQueries, kDim, false> q;
  Tile<T, kKeys, kDim, false> k, v;
};

// d += a * b, 16 x 16 times 16 x 8. Of each matrix a lane holds a part: 8 elements of a in four registers, 4 of b
// in two, and 4 sums.
template <class T>
__device__ __forceinline__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  if constexpr (std::is_same_v<T, days::half>) {
    days::ptx::mma_m16n8k16_f32_f16_f16_f32(d, a, {b0, b1}, d);
  } else {
    days::ptx::mma_m16n8k16_f32_bf16_bf16_f32(d, a, {b0, b1}, d);
  }
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) mma_kernel(const Attention<T> p, int blocks_a_head) {
  __shared__ Shared<T, kDim> shared;
  const int64_t head = blockIdx.x / static_cast<unsigned>(blocks_a_head);
  const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks_a_head)) * kQueries;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int warp_row = static_cast<int>(threadIdx.x) / days::kWarpSize * 16;
  const T* k = p.k + head * p.seq_k * kDim;
  const T* v = p.v + head * p.seq_k * kDim;

  load_tile<kThreads, kQueries>(shared.q, p.q + head * p.seq_q * kDim, first, p.seq_q);
  __syncthreads();
  // ldmatrix hands four matrices of 8 x 8 to the lanes as mma wants them: each lane names a row, 16 bytes, and gets
  // two neighbours of each matrix.
  uint32_t q[kDim / 16][4];
#pragma unroll
  for (int step = 0; step < kDim / 16; ++step)
    days::ptx::ldmatrix(q[step], shared.q.at(warp_row + lane % 16, lane / 16, 2 * step));

  float o[kDim / 8][4] = {};
  RowState rows;
  for (int key = 0; key < p.seq_k; key += kKeys) {
    __syncthreads();  // all are done with the tiles that were here
    load_tile<kThreads, kKeys>(shared.k, k, key, p.seq_k);
    load_tile<kThreads, kKeys>(shared.v, v, key, p.seq_k);
    __syncthreads();

    // scores = q k^T: 16 columns of q and k a step, 16 keys (two fragments of b) an ldmatrix.
    float scores[kKeys / 8][4] = {};
#pragma unroll
    for (int step = 0; step < kDim / 16; ++step) {
#pragma unroll
      for (int n = 0; n < kKeys / 8; n += 2) {
        uint32_t b[4];
        days::ptx::ldmatrix(b, shared.k.at(lane / 16 * 8 + lane % 8, lane / 8 % 2, 2 * step, n * 8));
        multiply_add<T>(scores[n], q[step], b[0], b[1]);
        multiply_add<T>(scores[n + 1], q[step], b[2], b[3]);
      }
    }
    mask(scores, p, first + warp_row, key);
    online_softmax(scores, rows, o, p.scale * kLog2E, 0);

    // o += weights v: two accumulators of 8 keys, rounded to T, are the left fragment of 16 keys.
#pragma unroll
    for (int n = 0; n < kKeys / 8; n += 2) {
      const uint32_t a[4] = {pack<T>(scores[n][0], scores[n][1]), pack<T>(scores[n][2], scores[n][3]),
                             pack<T>(scores[n + 1][0], scores[n + 1][1]),
                             pack<T>(scores[n + 1][2], scores[n + 1][3])};
#pragma unroll
      for (int d = 0; d < kDim / 8; d += 2) {  // 16 columns of v, transposed on the way into the registers
        uint32_t b[4];
        days::ptx::ldmatrix<true>(b, shared.v.at(lane % 16, lane / 16, d, n * 8));
        multiply_add<T>(o[d], a, b[0], b[1]);
        multiply_add<T>(o[d + 1], a, b[2], b[3]);
      }
    }
  }
  store_rows(p, head, first + warp_row, o, rows);
}

}  // namespace

template <class T>
requires Half<T>
void attention_mma(const Attention<T>& p, cudaStream_t stream) {
  days::require_attention(p, "mma");
  days::require_needs(p, "mma", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "mma");
  for_dim(p.dim, [&](auto dim) {
    mma_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(attention_mma, Attention, days::half, days::bf16);

}  // namespace day43
