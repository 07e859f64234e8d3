// SPDX-License-Identifier: MIT
// Each thread that keeps its element takes the next free place from a counter: atomicAdd gives back the old
// number, and no two threads get the same. Bound by: that one counter. Every kept element is an atomic
// addition to the same word, and they happen one after the other, in the L2 cache.
#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"

namespace day62 {
namespace {

constexpr int kThreads = 256;

__global__ void one_each_kernel(const float* x,   // (n)
                                float* y,         // (n)
                                uint32_t* count,  // (1), 0 before
                                int64_t n, float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  if (value > threshold) y[atomicAdd(count, 1u)] = value;
}

}  // namespace

void compaction_one_each(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "one_each");
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof(uint32_t), stream));
  one_each_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n,
                                                                          p.threshold);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
