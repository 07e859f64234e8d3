// SPDX-License-Identifier: MIT
//
// A prompt's attention on tensor cores, with keys and values in pages. A block has 64 rows of the prompt and a head, its four warps 16 rows
// each; 64 keys at a time. Lanes take 16 bytes of a query and of a key as their shares of two products at once, so that keys come straight from
// the pages; values go through shared memory, where they are turned. Sums are relative to the greatest score so far, as in day 43.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "serve/ops.h"

namespace serve {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize, kRows = 16, kKeys = 64;

// Of the four lanes that have a row.
__device__ float greatest_of_four(float value) {
  for (int other = 1; other <= 2; other *= 2)
    value = fmaxf(value, __shfl_xor_sync(days::kFullWarp, value, other));
  return value;
}
__device__ float sum_of_four(float value) {
  for (int other = 1; other <= 2; other *= 2) value += __shfl_xor_sync(days::kFullWarp, value, other);
  return value;
}

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    prompt_kernel(const Attend<T> p, const Rows rows, const Slots slots) {
  constexpr int kPitch = kDim + 8;  // 16 bytes more, so that ldmatrix finds rows in all banks
  constexpr int kParts = kDim / 32, kOut = kDim / 8, kTiles = kKeys / 8;
  __shared__ alignas(16) T values[kKeys * kPitch];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % days::kWarpSize, g = lane / 4,
            t = lane % 4;
  const int head = static_cast<int>(blockIdx.y), kv_head = head / (p.heads / p.kv_heads);
  const int of_block = static_cast<int>(blockIdx.x) * kWarps * kRows;
  const int row = of_block + thread / days::kWarpSize * kRows + g;  // and 8 below it
  // All rows are of one text, at positions in a row.
  const int begin = rows.positions[0];
  const int32_t* const table = slots.table + int64_t{rows.slots[0]} * slots.most_pages;
  const int keys = begin + min(p.count, of_block + kWarps * kRows);  // that any row of the block sees
  const auto place = [&](int key) {
    return ((int64_t{table[key / kPage]} * p.kv_heads + kv_head) * kPage + key % kPage) * kDim;
  };
  const int64_t pitch = int64_t{p.heads + 2 * p.kv_heads} * kDim;

  uint4 q[2][kParts];
#pragma unroll
  for (int down = 0; down < 2; ++down) {
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      q[down][part] = row + 8 * down < p.count
                          ? *reinterpret_cast<const uint4*>(p.qkv + (row + 8 * down) * pitch + head * kDim +
                                                            32 * part + 8 * t)
                          : make_uint4(0, 0, 0, 0);
  }
  float out[kOut][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (int first = 0; first < keys; first += kKeys) {
    __syncthreads();  // nobody reads the values before these any more
    for (int i = thread; i < kKeys * (kDim / 8); i += kThreads) {
      const int key = i / (kDim / 8), d = i % (kDim / 8) * 8;
      *reinterpret_cast<uint4*>(values + key * kPitch + d) =
          first + key < keys ? *reinterpret_cast<const uint4*>(p.values + place(first + key) + d)
                             : make_uint4(0, 0, 0, 0);
    }
    float score[kTiles][4] = {}, now[2] = {most[0], most[1]};
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int key = first + tile * 8 + g;
      const T* const from = p.keys + (key < keys ? place(key) : 0) + 8 * t;
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const uint4 k =
            key < keys ? *reinterpret_cast<const uint4*>(from + 32 * part) : make_uint4(0, 0, 0, 0);
        days::attention::mma<T>(score[tile], {q[0][part].x, q[1][part].x, q[0][part].y, q[1][part].y}, k.x,
                                k.y);
        days::attention::mma<T>(score[tile], {q[0][part].z, q[1][part].z, q[0][part].w, q[1][part].w}, k.z,
                                k.w);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int at = first + tile * 8 + 2 * t + e % 2;  // a row sees the keys up to its own
        score[tile][e] = at <= begin + row + e / 2 * 8 ? score[tile][e] * p.scale : -INFINITY;
        now[e / 2] = fmaxf(now[e / 2], score[tile][e]);
      }
    }
    float shrinks[2];
#pragma unroll
    for (int down = 0; down < 2; ++down) {
      now[down] = greatest_of_four(now[down]);  // the first key is seen by all rows
      shrinks[down] = expf(most[down] - now[down]);
      most[down] = now[down];
      total[down] *= shrinks[down];
    }
#pragma unroll
    for (int tile = 0; tile < kOut; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) out[tile][e] *= shrinks[e / 2];
    }
    __syncthreads();
#pragma unroll
    for (int pair = 0; pair < kTiles / 2; ++pair) {
      uint32_t weights[4];  // of 16 keys
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int down = i % 2;
        const float* const two = score[2 * pair + i / 2] + 2 * down;
        const float a = expf(two[0] - most[down]), b = expf(two[1] - most[down]);
        total[down] += a + b;
        weights[i] = days::attention::pack<T>(a, b);
      }
      // Lanes 0 to 7 name the first eight keys at 8 elements, 8 to 15 the others; then the same at the next 8.
      const T* const from = values + (pair * 16 + lane % 16) * kPitch + lane / 16 * 8;
#pragma unroll
      for (int tile = 0; tile < kOut; tile += 2) {
        uint32_t v[4];
        days::ptx::ldmatrix<true>(v, from + tile * 8);
        days::attention::mma<T>(out[tile], weights, v[0], v[1]);
        days::attention::mma<T>(out[tile + 1], weights, v[2], v[3]);
      }
    }
  }
#pragma unroll
  for (int down = 0; down < 2; ++down) {
    total[down] = sum_of_four(total[down]);
    if (row + 8 * down >= p.count) continue;
    T* const to = p.o + (int64_t{row + 8 * down} * p.heads + head) * kDim + 2 * t;
#pragma unroll
    for (int tile = 0; tile < kOut; ++tile)
      *reinterpret_cast<uint32_t*>(to + 8 * tile) =
          days::attention::pack<T>(out[tile][2 * down] / total[down], out[tile][2 * down + 1] / total[down]);
  }
}

}  // namespace

template <class T>
void attend_prompt(const Attend<T>& p, const Rows& rows, const Slots& slots, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(days::ceil_div(p.count, kWarps * kRows)),
                  static_cast<unsigned>(p.heads));
  const auto launch = [&](auto dim) {
    prompt_kernel<T, dim><<<grid, kThreads, 0, stream>>>(p, rows, slots);
    CUDA_CHECK_LAUNCH();
  };
  if (p.dim == 32) return launch(std::integral_constant<int, 32>{});
  if (p.dim == 64) return launch(std::integral_constant<int, 64>{});
  if (p.dim == 96) return launch(std::integral_constant<int, 96>{});
  days::require(p.dim == 128, "a head's dimension is 32, 64, 96 or 128, not", p.dim);
  launch(std::integral_constant<int, 128>{});
}
template void attend_prompt(const Attend<days::half>&, const Rows&, const Slots&, cudaStream_t);
template void attend_prompt(const Attend<days::bf16>&, const Rows&, const Slots&, cudaStream_t);

}  // namespace serve
