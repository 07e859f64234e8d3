// SPDX-License-Identifier: MIT
//
// Kernels of day 05 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/must_reject.h"
#include "common/problems/matmul_wrong.cuh"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

using namespace days::wrong_matmul;

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

MUST_REJECT(matmul, launch<half_inputs>, "c[0,0] is -1.29880142, expected -1.29865003");

}  // namespace
}  // namespace day05
