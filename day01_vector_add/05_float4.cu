// SPDX-License-Identifier: MIT
// Each thread takes four neighbouring elements with one 16-byte load from a and one from b, and writes them
// with one 16-byte store. Since one_each: a quarter of the threads and of the load and store instructions for
// the same bytes. Bound by: memory. The elements after the last whole group of four are added one by one.
// Teaches: float4.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

__global__ void float4_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t first = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + 4 <= n) {
    const float4 x = *reinterpret_cast<const float4*>(a + first);
    const float4 y = *reinterpret_cast<const float4*>(b + first);
    *reinterpret_cast<float4*>(c + first) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  } else {
    for (int64_t i = first; i < n; ++i) c[i] = a[i] + b[i];  // at most three, in one thread of the grid
  }
}

}  // namespace

void vector_add_float4(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "float4: n must be positive, not", p.n);
  days::require_needs(p, "float4", kAligned);
  const int64_t blocks = days::ceil_div(p.n, 4 * kThreads);
  days::require(blocks <= days::kMaxGridX,
                "float4: a grid has at most 2^31 - 1 blocks of 1024 elements; n is", p.n);
  float4_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
