// SPDX-License-Identifier: MIT
//
// Exercise: eight weights from a word of codes, by their bits. All but that is written: a lane's word and its 16 bytes of each
// token, the products, the sum of a row.
// Gates: every element right; no race; a warp asks for at least 200 bytes with one instruction (rows asks for 60).
//   ./days check 75     tells how far you are        ./days hint 75     when you are stuck
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/types.h"
#include "common/vector.cuh"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / days::kWarpSize;
constexpr int kTokens = 8;  // of a warp; a block along y for each so many
constexpr int kEach = 8;    // codes of a word

template <class T>
using Two = std::conditional_t<std::is_same_v<T, days::half>, __half2, __nv_bfloat162>;

// The 32 bits as two numbers of T.
template <class T>
[[maybe_unused]] __device__ __forceinline__ Two<T> two_of(uint32_t bits) {
  Two<T> two;
  memcpy(static_cast<void*>(&two), &bits, sizeof two);
  return two;
}
__device__ __forceinline__ float2 floats_of(__half2 two) {
  return __half22float2(two);
}
__device__ __forceinline__ float2 floats_of(__nv_bfloat162 two) {
  return __bfloat1622float2(two);
}

// Eight codes less 8, exactly. Pair i has codes i and i + 4, which lie 16 bits apart in the word: code i is bits 4i to 4i + 3.
template <class T>
__device__ __forceinline__ void eight_of([[maybe_unused]] uint32_t word, Two<T> (&pair)[kEach / 2]) {
#pragma unroll
  for (int i = 0; i < kEach / 2; ++i) {
    pair[i] = Two<T>();
    // 1. A mask takes codes i and i + 4 out of the word. Where must they lie, to be the last bits of two numbers?
    // 2. Which two numbers of T have 0000 there, and a last bit that is worth 1? (fp16: 1024; bf16: 128.)
    // 3. What is to be subtracted?
    // your code
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const Int4Matmul<T> p) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int first = static_cast<int>(blockIdx.y) * kTokens;
  if (row >= p.n) return;
  const uint32_t* w = reinterpret_cast<const uint32_t*>(p.w + int64_t{row} * (p.k / 2));
  const T* scale = p.scale + int64_t{row} * (p.k / kGroup);
  const T* x = p.x + int64_t{first} * p.k;

  float sum[kTokens] = {};
  for (int i = kEach * lane; i < p.k; i += kEach * days::kWarpSize) {
    Two<T> pair[kEach / 2];
    eight_of<T>(w[i / kEach], pair);
    const float s = days::to_float(scale[i / kGroup]);
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      if (first + t >= p.m) break;
      const days::Vec<T> of_token = days::load16(x + int64_t{t} * p.k + i);
      float part = 0;
#pragma unroll
      for (int j = 0; j < kEach / 2; ++j) {
        const float2 weights = floats_of(pair[j]);
        part = fmaf(weights.x, days::to_float(of_token[j]), part);
        part = fmaf(weights.y, days::to_float(of_token[j + kEach / 2]), part);
      }
      sum[t] = fmaf(part, s, sum[t]);
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
    const float total = days::warp_reduce(sum[t], days::Sum{});
    if (lane == 0 && first + t < p.m) p.y[int64_t{first + t} * p.n + row] = days::from_float<T>(total);
  }
}

}  // namespace

template <class T>
void exercise(const Int4Matmul<T>& p, cudaStream_t stream) {
  require_weight_only(p, "exercise");
  days::require_needs(p, "exercise", kWholeGroups, kGridTokens, kAligned);
  const dim3 grid(days::grid_of(p.n, kWarps, "exercise"),
                  static_cast<unsigned>(days::ceil_div(p.m, kTokens)));
  exercise_kernel<<<grid, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Int4Matmul, days::half, days::bf16);

}  // namespace day75
