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

// `<=` for `<`: writes one element past the end.
__global__ void past_the_end(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i <= p.n) p.c[i] = i < p.n ? p.a[i] + p.b[i] : 1.0f;
}
MUST_REJECT(vector_add, launch<past_the_end>, "after its end|cudaErrorIllegalAddress");

__global__ void zeros(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.c[i] = 0.0f;
}
MUST_REJECT(vector_add, launch<zeros>, "c[0] is 0, expected");

// A NaN comes out as 0.
__global__ void hides_nan(VectorAdd<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const float sum = p.a[i] + p.b[i];
  p.c[i] = sum != sum ? 0.0f : sum;
}
MUST_REJECT(vector_add, launch<hides_nan>, "special values: c[11] is 0, expected nan");

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

}  // namespace
}  // namespace day01
