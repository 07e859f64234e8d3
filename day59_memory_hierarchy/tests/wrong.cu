// SPDX-License-Identifier: MIT
//
// Kernels of day 59 with a bug in each, which its tests must reject.
#include "common/must_reject.h"
#include "day59_memory_hierarchy/touch.cuh"

namespace day59 {
namespace {

// The first lane alone walks: chains 1 to 31 are nobody's.
__global__ void first_lane_kernel(const uint32_t* next, uint32_t* end, int64_t lines, int chains, int steps) {
  touch(next, end, lines);
  if (threadIdx.x > 0) return;
  for (int chain = 0; chain < chains; chain += days::kWarpSize) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % lines));
    for (int step = 0; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}
// A step too few.
__global__ void short_walk_kernel(const uint32_t* next, uint32_t* end, int64_t lines, int chains, int steps) {
  for (int chain = threadIdx.x; chain < chains; chain += blockDim.x) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % lines));
    for (int step = 1; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}
// Every chain begins where chain 0 does.
__global__ void same_start_kernel(const uint32_t* next, uint32_t* end, int chains, int steps) {
  for (int chain = threadIdx.x; chain < chains; chain += blockDim.x) {
    uint32_t place = 0;
    for (int step = 0; step < steps; ++step) place = next[place];
    end[chain] = place;
  }
}
__global__ void short_texture_kernel(cudaTextureObject_t table, uint32_t* y, int64_t n, int stride,
                                     int steps) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t place = static_cast<uint32_t>(stride * i % kTable);
  for (int step = 0; step < steps; ++step) place = tex1Dfetch<uint32_t>(table, static_cast<int>(place));
  y[i] = place;
}
// The last word is mixed with one that does not exist any more.
__global__ void old_neighbour_kernel(const uint32_t* x, uint32_t* y, int64_t n, int rounds) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t state[kState], sum = 0;
  for (int k = 0; k < kState; ++k) state[k] = x[i] + static_cast<uint32_t>(k);
  for (int round = 0; round < rounds; ++round) {
    const uint32_t first = state[0];
    for (int k = 0; k < kState; ++k) state[k] = mixed(state[k], k + 1 < kState ? state[k + 1] : first);
  }
  for (int k = 0; k < kState; ++k) sum += state[k];
  y[i] = sum;
}

}  // namespace

void first_lane(const Chase<uint32_t>& p, cudaStream_t stream) {
  first_lane_kernel<<<1, kTouchers, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(chase, first_lane, "end[1] is");

void short_walk(const Chase<uint32_t>& p, cudaStream_t stream) {
  short_walk_kernel<<<1, 32, 0, stream>>>(p.next, p.end, p.lines, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(chase, short_walk, "end[");

void same_start(const Chase<uint32_t>& p, cudaStream_t stream) {
  same_start_kernel<<<1, 32, 0, stream>>>(p.next, p.end, p.chains, p.steps);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(chase, same_start, "end[1] is");

// The texture is as many bytes long as the table has words; beyond its end a fetch gives 0.
void short_texture(const Lookup<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_lookup(p, "short_texture");
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<uint32_t*>(p.table);
  resource.res.linear.desc = cudaCreateChannelDesc<uint32_t>();
  resource.res.linear.sizeInBytes = kTable;
  cudaTextureDesc how = {};
  cudaTextureObject_t table = 0;
  CUDA_CHECK(cudaCreateTextureObject(&table, &resource, &how, nullptr));
  short_texture_kernel<<<blocks, kThreads, 0, stream>>>(table, p.y, p.n, p.stride, p.steps);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaDestroyTextureObject(table));
}
MUST_REJECT(lookup, short_texture, "y[");

void old_neighbour(const Mix<uint32_t>& p, cudaStream_t stream) {
  old_neighbour_kernel<<<require_rounds(p, "old_neighbour"), kThreads, 0, stream>>>(p.x, p.y, p.n, p.rounds);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(mix, old_neighbour, "y[0] is");

// A quarter of the bytes: a count of words where bytes were asked for.
void words_for_bytes(const Fetch<uint32_t>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(p.y, p.x, static_cast<size_t>(p.n), cudaMemcpyDeviceToDevice, stream));
}
MUST_REJECT(fetch, words_for_bytes, "y[");

}  // namespace day59
