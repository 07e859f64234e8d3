// SPDX-License-Identifier: MIT
//
// What the wrong kernels of several matmul days share: a launch, the sum as it should be, and one bug that each such day must find.
#pragma once

#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/util.h"

namespace days::wrong_matmul {

// A thread an element of c, in blocks of 32 x 8. The grid has m along y.
template <void (*kKernel)(Matmul<float>)>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  static constexpr auto kMAlongY = at_most("m", 8 * kMaxGridY, [](const auto& of) { return of.m; });
  require_needs(p, "wrong", kMAlongY);
  const dim3 block(32, 8);
  const dim3 grid(ceil_div(p.n, 32), ceil_div(p.m, 8));
  kKernel<<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

struct Place {
  int row, col;
  bool inside;
};
__device__ inline Place place_of_grid(const Matmul<float>& p) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  return {row, col, row < p.m && col < p.n};
}

// The first `count` products of a row of a and a column of b, added up as they should be.
__device__ inline float dot(const Matmul<float>& p, int row, int col, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  return sum;
}

// 10 bits of fraction are left, as in half and TF32.
__device__ inline float round_to_half_bits(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}
// Rounds the inputs to half first, as a careless use of tensor cores would.
static __global__ void half_inputs(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) {
    sum += round_to_half_bits(p.a[int64_t{row} * p.k + i]) * round_to_half_bits(p.b[int64_t{i} * p.n + col]);
  }
  p.c[int64_t{row} * p.n + col] = sum;
}

}  // namespace days::wrong_matmul
