// SPDX-License-Identifier: MIT
//
// A warp a row of W: each lane reads a byte, makes two weights of it and multiplies them with two numbers of each token. The
// codes are read once for eight tokens, and nothing of W is written anywhere.
// Bound by: instructions. A shift, a mask, a conversion and two floating-point steps for each weight, and 2 bytes a load.

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/types.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / days::kWarpSize;
constexpr int kTokens = 8;  // of a warp; a block along y for each so many

template <class T>
__global__ void __launch_bounds__(kThreads) rows_kernel(const Int4Matmul<T> p) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int first = static_cast<int>(blockIdx.y) * kTokens;
  if (row >= p.n) return;
  const days::uint4x2* w = p.w + int64_t{row} * (p.k / 2);
  const T* scale = p.scale + int64_t{row} * (p.k / kGroup);
  const T* x = p.x + int64_t{first} * p.k;

  float sum[kTokens] = {};
  for (int i = 2 * lane; i < p.k; i += 2 * days::kWarpSize) {
    const days::uint4x2 codes = w[i / 2];
    const float s = days::to_float(scale[i / kGroup]);
    const float even = static_cast<float>(codes.lower() - 8) * s,
                odd = static_cast<float>(codes.upper() - 8) * s;
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      if (first + t >= p.m) break;
      const T* of_token = x + int64_t{t} * p.k + i;
      sum[t] = fmaf(even, days::to_float(of_token[0]), fmaf(odd, days::to_float(of_token[1]), sum[t]));
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
void int4_rows(const Int4Matmul<T>& p, cudaStream_t stream) {
  require_weight_only(p, "rows");
  days::require_needs(p, "rows", kWholeGroups, kGridTokens);
  const dim3 grid(days::grid_of(p.n, kWarps, "rows"), static_cast<unsigned>(days::ceil_div(p.m, kTokens)));
  rows_kernel<<<grid, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(int4_rows, Int4Matmul, days::half, days::bf16);

}  // namespace day75
