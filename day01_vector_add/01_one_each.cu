// SPDX-License-Identifier: MIT
// One thread adds one element. The grid has as many threads as the vector has elements, rounded up to whole
// blocks, so the last block's surplus threads must stay out: that is the `if`. Bound by: memory. 12 bytes
// move for one addition. A warp's 32 threads load neighbouring floats, which is already the right access
// pattern; what is left to gain is more bytes in flight for each instruction issued.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;  // threads in a block: a multiple of 32, and 8 such blocks fill 2,048 threads

__global__ void one_each_kernel(const float* a, const float* b, float* c, int64_t n) {
  // 64 bits before the multiplication: blockIdx.x * blockDim.x is 32 bits wide and would wrap at 2^32.
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

}  // namespace

void vector_add_one_each(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "one_each: n must be positive, not", p.n);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX,
                "one_each: a grid has at most 2^31 - 1 blocks of 256 threads; n is", p.n);
  one_each_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
