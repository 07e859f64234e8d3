// SPDX-License-Identifier: MIT
// Changed since near: the block copies its part to shared memory once, and reads it from there lap after lap.
// Bound by: shared memory's 128 bytes a tick.
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

constexpr int kGroups = 2048;  // of 16 bytes: 32 KiB

__global__ void __launch_bounds__(kThreads) held_kernel(const uint4* x,  // (groups)
                                                        uint32_t* y,     // (kReaders * kThreads)
                                                        int64_t groups, int64_t part, int laps) {
  __shared__ uint4 held[kGroups];
  const int64_t begin = blockIdx.x * part;
  const int count = static_cast<int>(begin >= groups ? 0 : part < groups - begin ? part : groups - begin);
  for (int i = threadIdx.x; i < count; i += kThreads) held[i] = x[begin + i];
  uint32_t sum = 0;  // no barrier: a thread reads the words that it has put there itself
  for (int lap = 0; lap < laps; ++lap) {
#pragma unroll 4
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const uint4 words = held[i];
      sum = mixed(sum, words.x ^ words.y ^ words.z ^ words.w);
    }
  }
  y[blockIdx.x * kThreads + threadIdx.x] = sum;
}

}  // namespace

void sweep_shared(const Sweep<uint32_t>& p, cudaStream_t stream) {
  require_sweep(p, "held");
  days::require_needs(p, "held", kInShared);
  held_kernel<<<kReaders, kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(p.x), p.y, p.n / 4, p.part(),
                                                 p.laps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
