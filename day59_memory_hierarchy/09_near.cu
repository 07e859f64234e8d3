// SPDX-License-Identifier: MIT
// near: each block reads its own part of x lap after lap, 16 bytes a thread. A part that fits into L1 comes from there
// after the first lap.
// far: the same with loads that look into L2 and not into L1: parts of all blocks together that fit into L2 come from there.
// Bound by: bytes a tick of the level that answers.
// Teaches: __ldcg.
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

// load(address) is what the two differ in.
template <class Load>
__device__ inline uint32_t laps_of(const uint4* x, int64_t groups, int64_t part, int laps, const Load& load) {
  const int64_t begin = blockIdx.x * part, end = begin + part < groups ? begin + part : groups;
  uint32_t sum = 0;
  for (int lap = 0; lap < laps; ++lap) {
#pragma unroll 4
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
      const uint4 words = load(x + i);
      sum = mixed(sum, words.x ^ words.y ^ words.z ^ words.w);
    }
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) near_kernel(const uint4* x,  // (groups)
                                                        uint32_t* y,     // (kReaders * kThreads)
                                                        int64_t groups, int64_t part, int laps) {
  y[blockIdx.x * kThreads + threadIdx.x] =
      laps_of(x, groups, part, laps, [](const uint4* from) { return *from; });
}

__global__ void __launch_bounds__(kThreads) far_kernel(const uint4* x,  // (groups)
                                                       uint32_t* y,     // (kReaders * kThreads)
                                                       int64_t groups, int64_t part, int laps) {
  y[blockIdx.x * kThreads + threadIdx.x] =
      laps_of(x, groups, part, laps, [](const uint4* from) { return __ldcg(from); });
}

}  // namespace

void sweep_near(const Sweep<uint32_t>& p, cudaStream_t stream) {
  require_sweep(p, "near");
  near_kernel<<<kReaders, kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(p.x), p.y, p.n / 4, p.part(),
                                                 p.laps);
  CUDA_CHECK_LAUNCH();
}

void sweep_far(const Sweep<uint32_t>& p, cudaStream_t stream) {
  require_sweep(p, "far");
  far_kernel<<<kReaders, kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(p.x), p.y, p.n / 4, p.part(),
                                                p.laps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
