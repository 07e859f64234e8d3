// SPDX-License-Identifier: MIT
//
// Kernels of day 06 with a bug in each, which its tests must reject: what goes wrong when loads are made
// wider or threads are numbered otherwise. They stay inside their buffers, so that it is the comparison that
// finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/must_reject.h"
#include "common/problems/matmul_wrong.cuh"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

using namespace days::wrong_matmul;

__global__ void zeros(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (inside) p.c[int64_t{row} * p.n + col] = 0.0f;
}
MUST_REJECT(matmul, launch<zeros>, "c[0,0] is 0, expected");

// Takes the last group of four whole: the next row's first products are added too.
__global__ void reads_past_row(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  const int64_t last_a = int64_t{p.m} * p.k - 1, size_b = int64_t{p.k} * p.n;
  float sum = 0.0f;
  for (int i = 0; i < days::round_up(p.k, 4); ++i) {
    const int64_t at = int64_t{row} * p.k + i;
    sum += p.a[at < last_a ? at : last_a] * p.b[(int64_t{i} * p.n + col) % size_b];
  }
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<reads_past_row>, "1 x 1 x 1: c[0,0] is -5.19460011, expected -1.29865003");

// Uses the first of the four floats that a broadcast brought four times.
__global__ void same_float(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i / 4 * 4] * p.b[int64_t{i} * p.n + col];
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<same_float>, "1 x 3 x 256: c[0,0] is");

// / and % the wrong way round in the row, the right way in the column.
__global__ void swaps_div_mod(Matmul<float> p) {
  const int thread = threadIdx.y * 32 + threadIdx.x;  // its number in the block
  const int row = blockIdx.y * 8 + thread % 8, col = blockIdx.x * 32 + thread % 32;
  if (row < p.m && col < p.n) p.c[int64_t{row} * p.n + col] = dot(p, row, col, p.k);
}
MUST_REJECT(matmul, launch<swaps_div_mod>, "1 x 3 x 256: c[0,1] is nan");

// Rounds the address of each group of four of a down to 16 bytes.
__global__ void aligns_down(Matmul<float> p) {
  const auto [row, col, inside] = place_of_grid(p);
  if (!inside) return;
  const int64_t last_a = int64_t{p.m} * p.k - 1;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) {
    const int64_t at = (int64_t{row} * p.k + i) / 4 * 4 + i % 4;
    sum += p.a[at < last_a ? at : last_a] * p.b[int64_t{i} * p.n + col];
  }
  p.c[int64_t{row} * p.n + col] = sum;
}
MUST_REJECT(matmul, launch<aligns_down>, "7 x 9 x 5: c[1,0] is");

MUST_REJECT(matmul, launch<half_inputs>, "c[0,0] is -1.29880142, expected -1.29865003");

}  // namespace
}  // namespace day06
