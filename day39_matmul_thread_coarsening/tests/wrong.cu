// SPDX-License-Identifier: MIT
//
// Kernels of day 39 with a bug in each, which its tests must reject: what goes wrong when threads make several
// elements, tiles are stored transposed and used by turns, and matrices lie otherwise. They stay inside their
// buffers, so that it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

// A thread for 8 elements of c below one another: (row, col) is its first.
constexpr int kEach = 8;
template <void (*kKernel)(Matmul<float>)>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  const dim3 grid(days::ceil_div(p.n, 32), days::ceil_div(p.m, 8 * kEach));
  kKernel<<<grid, dim3(32, 8), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
__device__ int first_row() {
  return static_cast<int>(blockIdx.y * 8 + threadIdx.y) * kEach;
}
__device__ int column() {
  return static_cast<int>(blockIdx.x * 32 + threadIdx.x);
}

// The products from `begin` to `end` of a row of a and a column of b, added up as they should be.
__device__ float dot(const Matmul<float>& p, int row, int col, int begin, int end) {
  float sum = 0.0f;
  for (int i = begin; i < end; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  return sum;
}
__device__ float& at(const Matmul<float>& p, int row, int col) {
  return p.c[int64_t{row} * p.n + col];
}

// The buffers' turns: every second tile of 8 is the one before it again.
__global__ void same_buffer(Matmul<float> p) {
  if (column() >= p.n) return;
  for (int r = first_row(); r < p.m && r < first_row() + kEach; ++r) {
    float sum = 0.0f;
    for (int i = 0; i < p.k; i += 8) {
      const int from = i / 16 * 16;
      sum += dot(p, r, column(), from, min(from + 8, p.k));
    }
    at(p, r, column()) = sum;
  }
}
MUST_REJECT(matmul, launch<same_buffer>, "1 x 1 x 100: c[0,0] is");

// Groups of four columns are exchanged, as when one group is taken for its neighbour.
__global__ void swapped_groups(Matmul<float> p) {
  if (column() >= p.n) return;
  const int other = column() ^ 4;
  for (int r = first_row(); r < p.m && r < first_row() + kEach; ++r) {
    at(p, r, column()) = dot(p, r, other < p.n ? other : column(), 0, p.k);
  }
}
MUST_REJECT(matmul, launch<swapped_groups>, "1 x 131 x 7: c[0,0] is");

__device__ float round_to_half_bits(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}
// Rounds the inputs to 10 bits of fraction, as TF32 does.
__global__ void tf32_inputs(Matmul<float> p) {
  if (column() >= p.n) return;
  for (int r = first_row(); r < p.m && r < first_row() + kEach; ++r) {
    float sum = 0.0f;
    for (int i = 0; i < p.k; ++i) {
      sum += round_to_half_bits(p.a[int64_t{r} * p.k + i]) *
             round_to_half_bits(p.b[int64_t{i} * p.n + column()]);
    }
    at(p, r, column()) = sum;
  }
}
MUST_REJECT(matmul, launch<tf32_inputs>, "c[0,0] is -1.29880142, expected -1.29865003");

// ---- The general product, an element a thread ----

template <void (*kKernel)(Gemm<float>)>
void launch_gemm(const Gemm<float>& p, cudaStream_t stream) {
  const dim3 grid(days::ceil_div(p.n, 32), days::ceil_div(p.m, 8));
  kKernel<<<grid, dim3(32, 8), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
__device__ int row() {
  return static_cast<int>(blockIdx.y * 8 + threadIdx.y);
}
__device__ float product(const Gemm<float>& p) {
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[p.at_a(row(), i)] * p.b[p.at_b(i, column())];
  return sum;
}

// 0 * NaN is NaN: c must not be read where beta is 0.
__global__ void reads_c(Gemm<float> p) {
  if (row() >= p.m || column() >= p.n) return;
  float& c = p.c[p.at_c(row(), column())];
  c = p.alpha * product(p) + p.beta * c;
}
MUST_REJECT(gemm, launch_gemm<reads_c>, "c[0,0] is nan");

// The gap between the rows of c is overwritten: with what was computed, four floats at a time.
__global__ void into_the_gap(Gemm<float> p) {
  if (row() >= p.m || column() >= p.n) return;
  float* c = p.c + p.at_c(row(), column());
  const float value = p.alpha * product(p) + (p.beta != 0.0f ? p.beta * *c : 0.0f);
  for (int i = 0; i < 4; ++i) {
    if (i == 0 || (column() + 1 == p.n && p.n + i < p.ldc)) c[i] = value;
  }
}
MUST_REJECT(gemm, launch_gemm<into_the_gap>, "pitches: c[0,1] is|pitches of 4: c[0,1] is");

// b is read as it is stored, whatever its op says: right for a square b that is symmetric.
__global__ void ignores_op(Gemm<float> p) {
  if (row() >= p.m || column() >= p.n) return;
  const int64_t size = p.op_b == days::Op::kN ? p.k * p.ldb : p.n * p.ldb;
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[p.at_a(row(), i)] * p.b[(i * p.ldb + column()) % size];
  float& c = p.c[p.at_c(row(), column())];
  c = p.alpha * sum + (p.beta != 0.0f ? p.beta * c : 0.0f);
}
MUST_REJECT(gemm, launch_gemm<ignores_op>, "5 x 3 x 7 x 2: c[0,0] is");

}  // namespace
}  // namespace day39
