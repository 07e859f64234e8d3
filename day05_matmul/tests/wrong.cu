// SPDX-License-Identifier: MIT
//
// Kernels of day 05 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

// A thread an element of c.
template <void (*kKernel)(Matmul<float>)>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  days::require_needs(p, "wrong", kMAlongY);
  const dim3 block(32, 8);
  const dim3 grid(days::ceil_div(p.n, 32), days::ceil_div(p.m, 8));
  kKernel<<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

struct Place {
  int row, col;
  bool inside;
};
__device__ Place place_of_grid(const Matmul<float>& p) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  return {row, col, row < p.m && col < p.n};
}

// The first `count` products of a row of a and a column of b, added up as they should be.
__device__ float dot(const Matmul<float>& p, int row, int col, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  return sum;
}

// The loop over k takes four at a time and forgets what is left over.
__global__ void drops_tail(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (inside) p.c[int64_t{row} * p.n + col] = dot(p, row, col, p.k / 4 * 4);
}
MUST_REJECT(matmul, launch<drops_tail>, "1 x 1 x 1: c[0,0] is 0, expected");

// Starts from what c holds instead of from zero.
__global__ void stale_sum(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (inside) p.c[int64_t{row} * p.n + col] += dot(p, row, col, p.k);
}
MUST_REJECT(matmul, launch<stale_sum>, "c[0,0] is nan");

// Reads b[col][i] instead of b[i][col].
__global__ void transposed_b(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{col} * p.k + i];
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<transposed_b>, "2 x 3 x 4: c[0,0] is");

// Products below 2^-126 are lost, as with -ftz=true.
__global__ void flushes(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) {
    const float product = p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
    if (fabsf(product) >= 1.17549435e-38f) sum += product;
  }
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<flushes>, "tiny: c[0,0] is 0, expected");

// A NaN in the sum comes out as a number: fmaxf and fminf drop it.
__global__ void hides_nan(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  const float sum = dot(p, row, col, p.k);
  p.c[int64_t{row} * p.n + col] = fmaxf(fminf(sum, 3.402823466e38f), -3.402823466e38f);
}
MUST_REJECT(matmul, launch<hides_nan>, "NaN and infinity: c[0,0] is 3.40282347e+38, expected nan");

// 10 bits of fraction are left, as in half and TF32.
__device__ float round_to_half_bits(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}
// Rounds the inputs to half first, as a careless use of tensor cores would.
__global__ void half_inputs(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) {
    sum += round_to_half_bits(p.a[int64_t{row} * p.k + i]) * round_to_half_bits(p.b[int64_t{i} * p.n + col]);
  }
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<half_inputs>, "c[0,0] is -1.29880142, expected -1.29865003");

}  // namespace
}  // namespace day05
