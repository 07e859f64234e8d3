// SPDX-License-Identifier: MIT
//
// Additions with a bug in each, which day 01's tests must reject. Only past_the_end leaves its buffer, by one
// element, as far as the guard band.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

template <void (*kKernel)(VectorAdd<float>)>
void launch(const VectorAdd<float>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(days::ceil_div(p.n, kThreads)), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

__device__ int64_t thread_of_grid() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// `<` against n - 1: the last element is never written.
__global__ void one_short(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n - 1) p.c[i] = p.a[i] + p.b[i];
}
MUST_REJECT(vector_add, launch<one_short>, "1: c[0] is nan");

// `<=` for `<`: writes one element past the end.
__global__ void past_the_end(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i <= p.n) p.c[i] = i < p.n ? p.a[i] + p.b[i] : 1.0f;
}
MUST_REJECT(vector_add, launch<past_the_end>, "after its end|cudaErrorIllegalAddress");

__global__ void right(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = p.a[i] + p.b[i];
}
// n / 256 blocks, not rounded up.
void drops_last_block(const VectorAdd<float>& p, cudaStream_t stream) {
  const int64_t blocks = p.n < kThreads ? 1 : p.n / kThreads;
  right<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(vector_add, drops_last_block, "257: c[256] is nan");
// A grid of at most 1,000 blocks, as for a grid-stride loop, and no loop.
void one_step(const VectorAdd<float>& p, cudaStream_t stream) {
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  right<<<static_cast<unsigned>(blocks < 1000 ? blocks : 1000), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(vector_add, one_step, "1000003: c[256000] is nan");

// float4 without its last one to three elements.
__global__ void drops_tail_kernel(const float4* a, const float4* b, float4* c, int64_t vectors) {
  const int64_t i = thread_of_grid();
  if (i < vectors) c[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}
void drops_tail(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require_needs(p, "drops_tail", kAligned);
  const int64_t vectors = p.n / 4;
  drops_tail_kernel<<<static_cast<unsigned>(vectors / kThreads + 1), kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(p.a), reinterpret_cast<const float4*>(p.b),
      reinterpret_cast<float4*>(p.c), vectors);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(vector_add, drops_tail, "1: c[0] is nan");

// The first thread of each block adds a to itself.
__global__ void first_of_block(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = p.a[i] + (threadIdx.x == 0 ? p.a[i] : p.b[i]);
}
MUST_REJECT(vector_add, launch<first_of_block>, "1: c[0] is 1.69535232, expected -0.684335828");

// Adds a to itself everywhere.
__global__ void a_twice(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = p.a[i] + p.a[i];
}
MUST_REJECT(vector_add, launch<a_twice>, "1: c[0] is 1.69535232, expected -0.684335828");

// Reads b one element to the right.
__global__ void neighbour(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = p.a[i] + p.b[i + 1 < p.n ? i + 1 : i];
}
MUST_REJECT(vector_add, launch<neighbour>, "2: c[0] is");

__global__ void zeros(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = 0.0f;
}
MUST_REJECT(vector_add, launch<zeros>, "c[0] is 0, expected");

// What was there from the last kernel would pass, were it not for the poison.
__global__ void nothing(VectorAdd<float>) {}
MUST_REJECT(vector_add, launch<nothing>, "c[0] is nan");

// Leaves the sum in a as well.
__global__ void in_place(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = const_cast<float*>(p.a)[i] = p.a[i] + p.b[i];
}
MUST_REJECT(vector_add, launch<in_place>, "input a[0] was changed");

// Sums below 2^-126 become 0, as -use_fast_math has it.
__global__ void flushes_denormals(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const float sum = p.a[i] + p.b[i];
  p.c[i] = fabsf(sum) < 1.17549435e-38f ? 0.0f : sum;
}
MUST_REJECT(vector_add, launch<flushes_denormals>, "special values: c[4] is 0, expected 1.40129846e-45");

// A NaN comes out as 0.
__global__ void hides_nan(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const float sum = p.a[i] + p.b[i];
  p.c[i] = sum != sum ? 0.0f : sum;
}
MUST_REJECT(vector_add, launch<hides_nan>, "special values: c[11] is 0, expected nan");

// An overflow is clamped to the largest float.
__global__ void hides_infinity(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const float sum = p.a[i] + p.b[i];
  p.c[i] = sum > 3.402823466e38f ? 3.402823466e38f : sum;
}
MUST_REJECT(vector_add, launch<hides_infinity>, "is 3.40282347e+38, expected inf");

// Rounds a down to a multiple of 16 bytes, to read vectors from it, instead of refusing what isn't one.
__global__ void aligns_down(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  const uintptr_t address = reinterpret_cast<uintptr_t>(p.a) & ~uintptr_t{15};
  if (i < p.n) p.c[i] = reinterpret_cast<const float*>(address)[i] + p.b[i];
}
MUST_REJECT(vector_add, launch<aligns_down>, "misaligned a: c[0] is");

// Stages in shared memory and reads what another thread staged, without a barrier between the two.
__global__ void no_barrier(VectorAdd<float> p) {
  __shared__ float staged[kThreads];
  const int64_t start = int64_t{blockIdx.x} * kThreads;
  const int mine = threadIdx.x, other = kThreads - 1 - threadIdx.x;
  if (start + mine < p.n) staged[mine] = p.a[start + mine] + p.b[start + mine];
  if (start + other < p.n) p.c[start + other] = staged[other];
}
MUST_REJECT(vector_add, launch<no_barrier>, "c[|simt-race-shared");

// ---- Matrices: a thread an element of the pitch ----

template <void (*kKernel)(MatrixAdd<float>)>
void launch_matrix(const MatrixAdd<float>& p, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(static_cast<unsigned>(days::ceil_div(p.pitch, 32)),
                  static_cast<unsigned>(days::ceil_div(p.rows, 8)));
  if (grid.y > 65535) return;  // that shape is for the rungs that must refuse it
  kKernel<<<grid, block, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

struct Place {
  int64_t row, col;
};
__device__ Place place_of_grid() {
  return {int64_t{blockIdx.y} * blockDim.y + threadIdx.y, int64_t{blockIdx.x} * blockDim.x + threadIdx.x};
}

// Takes the columns for the distance between rows.
__global__ void ignores_pitch(MatrixAdd<float> p) {
  const auto [row, col] = place_of_grid();
  const int64_t i = row * p.cols + col;
  if (row < p.rows && col < p.cols) p.c[i] = p.a[i] + p.b[i];
}
MUST_REJECT(matrix_add, launch_matrix<ignores_pitch>, "8 x 33 x 36: c[0,33] is");

// Writes zeros between cols and pitch.
__global__ void fills_padding(MatrixAdd<float> p) {
  const auto [row, col] = place_of_grid();
  const int64_t i = row * p.pitch + col;
  if (row < p.rows && col < p.pitch) p.c[i] = col < p.cols ? p.a[i] + p.b[i] : 0.0f;
}
MUST_REJECT(matrix_add, launch_matrix<fills_padding>, "1 x 3 x 4: c[0,3] is 0, expected nan");

// Compares the row with cols and the column with rows: right for square matrices alone.
__global__ void swaps_extents(MatrixAdd<float> p) {
  const auto [row, col] = place_of_grid();
  const int64_t i = row * p.pitch + col;
  if (row < p.cols && col < p.rows && row < p.rows && col < p.cols) p.c[i] = p.a[i] + p.b[i];
}
MUST_REJECT(matrix_add, launch_matrix<swaps_extents>, "1 x 3 x 4: c[0,1] is nan");

// The last column is never written.
__global__ void flipped_guard(MatrixAdd<float> p) {
  const auto [row, col] = place_of_grid();
  const int64_t i = row * p.pitch + col;
  if (row < p.rows && col < p.cols - 1) p.c[i] = p.a[i] + p.b[i];
}
MUST_REJECT(matrix_add, launch_matrix<flipped_guard>, "1 x 1 x 1: c[0,0] is nan");

// Adds the transposed b where the matrix has the place.
__global__ void transposes_b(MatrixAdd<float> p) {
  const auto [row, col] = place_of_grid();
  const int64_t i = row * p.pitch + col;
  const int64_t turned = row < p.cols && col < p.rows ? col * p.pitch + row : i;
  if (row < p.rows && col < p.cols) p.c[i] = p.a[i] + p.b[turned];
}
MUST_REJECT(matrix_add, launch_matrix<transposes_b>, "7 x 32 x 32: c[0,1] is");

}  // namespace
}  // namespace day01
