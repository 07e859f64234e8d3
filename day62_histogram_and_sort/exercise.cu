// SPDX-License-Identifier: MIT
//
// Exercise: a histogram whose threads meet within their block alone.
// Gates: every count right for every n and the hostile keys; no race; atomic operations touch at most a tenth
// as many sectors of global memory as the keys fill (global: 20 times as many).
//   ./days check 62     tells how far you are        ./days hint 62     when you are stuck
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/histogram.h"

namespace day62 {
namespace {

constexpr int kThreads = kBins;  // 256: as many threads as bins

__global__ void exercise_kernel(const uint8_t* keys,  // (n)
                                uint32_t* counts,     // (kBins)
                                int64_t n) {
  // 1. Declare a histogram of the block's own in shared memory. What does it hold at first?
  // 2. This thread's keys are blockIdx.x * kThreads + threadIdx.x and then each one a grid further, that is
  //    gridDim.x * kThreads. Where does it count them, and with which operation?
  // 3. At the end the block's histogram is added to `counts`, to which other blocks add theirs.
  // 4. There are two moments at which nobody may go on before everybody has come. Which?
  // 5. `counts` holds anything when the launcher is called. Before the launch:
  //    CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
  // your code
}

}  // namespace

void exercise(const Histogram<uint8_t>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const int64_t blocks = std::min(days::ceil_div(p.n, kThreads), days::resident_threads() / kThreads);
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
