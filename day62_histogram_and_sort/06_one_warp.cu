// SPDX-License-Identifier: MIT
// One lane asks for the places of its whole warp. __ballot_sync gives every lane a word with a bit for each
// lane that keeps its element: its ones are how many places are needed, and the ones below a lane's own bit
// how many lanes come before it. Since one_each: one atomic addition for up to 32 elements, which then lie
// side by side. Bound by: the counter still, 32 elements an addition.
// Teaches: __ballot_sync, __popc.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"

namespace day62 {
namespace {

constexpr int kThreads = 256;

__global__ void one_warp_kernel(const float* x,   // (n)
                                float* y,         // (n)
                                uint32_t* count,  // (1), 0 before
                                int64_t n, float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int lane = threadIdx.x % days::kWarpSize;
  const float value = i < n ? x[i] : threshold;  // past the end: not above it
  const bool keep = value > threshold;
  const unsigned kept = __ballot_sync(days::kFullWarp, keep);
  uint32_t first = 0;
  if (lane == 0 && kept != 0) first = atomicAdd(count, static_cast<uint32_t>(__popc(kept)));
  first = __shfl_sync(days::kFullWarp, first, 0);
  if (keep) y[first + __popc(kept & ((1u << lane) - 1))] = value;
}

}  // namespace

void compaction_one_warp(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "one_warp");
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof(uint32_t), stream));
  one_warp_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n,
                                                                          p.threshold);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
