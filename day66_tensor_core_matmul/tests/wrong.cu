// SPDX-License-Identifier: MIT
//
// Kernels of day 66 with a bug in each, which its tests must reject. Most have a thread for each element of c, because
// what a fragment or a sum of the wrong type does to c can be said without one.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

using days::half;
using days::to_float;

// A thread for each element of c; kElement(p, row, col) is what it gets.
template <auto kElement, class Problem>
__global__ void elements_kernel(Problem p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < int64_t{p.m} * p.n) p.c[i] = kElement(p, static_cast<int>(i / p.n), static_cast<int>(i % p.n));
}
template <auto kElement, class Problem>
void launch_of(const Problem& p, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(days::ceil_div(int64_t{p.m} * p.n, int64_t{256}));
  elements_kernel<kElement><<<blocks, 256, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// The products of a row and a column, added in float.
template <class T>
__device__ float products(const Matmul<T>& p, int row, int col) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += to_float(p.a[int64_t{row} * p.k + i]) * to_float(p.b[int64_t{i} * p.n + col]);
  return sum;
}

// ---- half ----

template <half (*kElement)(const Matmul<half>&, int, int)>
void launch(const Matmul<half>& p, cudaStream_t stream) {
  launch_of<kElement>(p, stream);
}

// Sums of 16 bits: mma.sync has those, too.
__device__ half half_sums(const Matmul<half>& p, int row, int col) {
  half sum = __float2half(0);
  for (int i = 0; i < p.k; ++i)
    sum = __float2half(to_float(sum) +
                       to_float(p.a[int64_t{row} * p.k + i]) * to_float(p.b[int64_t{i} * p.n + col]));
  return sum;
}
MUST_REJECT(half, launch<half_sums>, "wrong, worst error");

// Rows that belong to nobody are fetched from row 0, and multiplied by zero instead of left out.
__device__ half times_zero(const Matmul<half>& p, int row, int col) {
  return __float2half(products(p, row, col) + 0.0f * to_float(p.a[0]));
}
MUST_REJECT(half, launch<times_zero>, "c[1,0] is nan, expected");

// Copies that nobody waits for. A tile of 8 x 8 elements of c, 8 of k at a time, a thread an element.
__global__ void no_wait_kernel(Matmul<half> p) {
  __shared__ alignas(16) half a[8][8], b[8][8];
  const int row = static_cast<int>(blockIdx.y * 8 + threadIdx.y),
            col = static_cast<int>(blockIdx.x * 8 + threadIdx.x);
  float sum = 0;
  for (int k = 0; k < p.k; k += 8) {
    const int down = static_cast<int>(threadIdx.y);
    if (threadIdx.x == 0) {
      days::ptx::cp_async_cg(a[down], p.a + int64_t{row} * p.k + k, row < p.m ? 16 : 0);
      days::ptx::cp_async_cg(b[down], p.b + int64_t{k + down} * p.n + col, 16);
    }
    days::ptx::cp_async_commit_group();
    days::ptx::cp_async_wait_group<1>();  // all but the latest group, and there is only one
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += to_float(a[down][i]) * to_float(b[i][threadIdx.x]);
    __syncthreads();
  }
  if (row < p.m) p.c[int64_t{row} * p.n + col] = __float2half(sum);
}
void no_wait(const Matmul<half>& p, cudaStream_t stream) {
  days::require_needs(p, "no_wait", kWholeN, kWholeK, kAligned);
  const dim3 grid(static_cast<unsigned>(p.n / 8), static_cast<unsigned>(days::ceil_div(p.m, 8)));
  no_wait_kernel<<<grid, dim3(8, 8), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(half, no_wait, "is nan, expected|is 0, expected|simt-");  // what was in shared memory before

// ---- tf32 and fp32 ----

template <float (*kElement)(const Matmul<float>&, int, int)>
void launch_floats(const Matmul<float>& p, cudaStream_t stream) {
  launch_of<kElement>(p, stream);
}
__device__ float nearest(float x) {
  return __uint_as_float(days::ptx::cvt_rna_tf32(x));
}
// A row times a column, each product made by `times`.
template <class Times>
__device__ float made_by(const Matmul<float>& p, int row, int col, const Times& times) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) sum += times(p.a[int64_t{row} * p.k + i], p.b[int64_t{i} * p.n + col]);
  return sum;
}

// Three products, and infinity minus infinity is left as it is.
__device__ float infinity_split(const Matmul<float>& p, int row, int col) {
  return made_by(p, row, col, [](float x, float y) {
    const float big_x = nearest(x), small_x = nearest(x - big_x), big_y = nearest(y),
                small_y = nearest(y - big_y);
    return small_x * big_y + big_x * small_y + big_x * big_y;
  });
}
MUST_REJECT(fp32, launch_floats<infinity_split>, "is nan, expected");

}  // namespace
}  // namespace day66
