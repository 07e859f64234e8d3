// SPDX-License-Identifier: MIT
// Each thread takes a key and adds 1 to its bin in global memory. atomicAdd reads, adds and writes in one
// step that nobody comes between: with `counts[key] += 1` two threads would read the same old number, and one
// of the additions would be lost. Bound by: the 256 bins. They are 32 sectors of the L2 cache, and all atomic
// additions of the grid queue there; if all keys are equal, they queue at one word.
// Teaches: atomicAdd.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/histogram.h"

namespace day62 {
namespace {

constexpr int kThreads = 256;

__global__ void global_kernel(const uint8_t* keys,  // (n)
                              uint32_t* counts,     // (kBins), zeros before
                              int64_t n) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    atomicAdd(&counts[keys[i]], 1u);
  }
}

}  // namespace

void histogram_global(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "global");
  const int64_t blocks = std::min(days::ceil_div(p.n, kThreads), days::resident_threads() / kThreads);
  CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
  global_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
