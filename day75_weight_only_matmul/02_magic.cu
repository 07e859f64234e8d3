// SPDX-License-Identifier: MIT
//
// Eight codes at a time, by their bits. 0x6400 is the half 1024, and there the last bit of a half is worth 1: 0x6400 with a code
// in its last bits is 1024 + code. So one mask puts two codes into two halves, and one subtraction of 1032 makes two weights of
// them; no shift a code, no conversion. Changed since rows: a lane reads a word of codes, and 16 bytes of each token.
// Bound by: products. Each weight is multiplied with each token by one instruction of a lane.
// Teaches: lop3, __hsub2, __hfma2.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/check.h"
#include "common/ptx/logic.h"
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
__device__ __forceinline__ Two<T> two_of(uint32_t bits) {
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

// The bits of `word` that the mask has, in those of `magic`, by one instruction.
__device__ __forceinline__ uint32_t take(uint32_t word, uint32_t mask, uint32_t magic) {
  return days::ptx::lop3<(days::ptx::kA & days::ptx::kB) | days::ptx::kC>(word, mask, magic);
}

// Eight codes less 8, exactly. Pair i has codes i and i + 4, which lie 16 bits apart in the word.
template <class T>
__device__ __forceinline__ void eight_of(uint32_t word, Two<T> (&pair)[kEach / 2]) {
#pragma unroll
  for (int i = 0; i < kEach / 2; ++i) {
    if constexpr (std::is_same_v<T, days::bf16>) {
      // 0x4300 is 128, whose last bit is worth 1. A code four places higher would reach into the exponent, so the word is shifted.
      pair[i] = __hsub2(two_of<T>(take(word >> 4 * i, 0x000f000f, 0x43004300)), two_of<T>(0x43084308));
    } else if (i % 2 == 0) {
      pair[i] = __hsub2(two_of<T>(take(word >> 4 * i, 0x000f000f, 0x64006400)), two_of<T>(0x64086408));
    } else {
      // The code's bits are four places too high: 1024 + 16 * code, and a sixteenth of that less 72 is code - 8.
      pair[i] = __hfma2(two_of<T>(take(word >> 4 * (i - 1), 0x00f000f0, 0x64006400)), two_of<T>(0x2c002c00),
                        two_of<T>(0xd480d480));
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) magic_kernel(const Int4Matmul<T> p) {
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
void int4_magic(const Int4Matmul<T>& p, cudaStream_t stream) {
  require_weight_only(p, "magic");
  days::require_needs(p, "magic", kWholeGroups, kGridTokens, kAligned);
  const dim3 grid(days::grid_of(p.n, kWarps, "magic"), static_cast<unsigned>(days::ceil_div(p.m, kTokens)));
  magic_kernel<<<grid, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(int4_magic, Int4Matmul, days::half, days::bf16);

}  // namespace day75
