// SPDX-License-Identifier: MIT
//
// Grouped attention: a block has a head of keys, and all query heads that read it, so that a key comes from memory once for all of them.

#include "day81_llama_inference/heads.h"

namespace {

using day81::Heads;
using day81::kDim;

constexpr int kMostGroup = 8;

// A thread has an element of the head's dimension, and goes through the keys once.
__global__ void __launch_bounds__(kDim) heads_kernel(const Heads p) {
  __shared__ float part[kMostGroup][kDim];
  const int kv = static_cast<int>(blockIdx.x), d = static_cast<int>(threadIdx.x),
            group = p.heads / p.kv_heads;
  float q[kMostGroup], o[kMostGroup] = {}, sum[kMostGroup] = {}, greatest[kMostGroup];
  for (int i = 0; i < group; ++i) {
    q[i] = p.q[(kv * group + i) * kDim + d] * 0.125f;  // 1 / sqrt(64)
    greatest[i] = -INFINITY;
  }
  for (int s = 0; s < p.keys; ++s) {
    const float k = p.k[(kv * p.keys + s) * kDim + d], v = p.v[(kv * p.keys + s) * kDim + d];
    for (int i = 0; i < group; ++i) part[i][d] = q[i] * k;
    __syncthreads();
    for (int i = 0; i < group; ++i) {
      float score = 0;
      for (int e = 0; e < kDim; ++e) score += part[i][e];
      const float most = fmaxf(greatest[i], score), keep = expf(greatest[i] - most),
                  weight = expf(score - most);
      o[i] = o[i] * keep + weight * v;
      sum[i] = sum[i] * keep + weight;
      greatest[i] = most;
    }
    __syncthreads();  // before the next key's parts
  }
  for (int i = 0; i < group; ++i) p.o[(kv * group + i) * kDim + d] = o[i] / sum[i];
}

void heads(const Heads& p, cudaStream_t stream) {
  days::require(p.heads / p.kv_heads <= kMostGroup, "a group has at most 8 query heads, not",
                p.heads / p.kv_heads);
  heads_kernel<<<static_cast<unsigned>(p.kv_heads), kDim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

int main(int argc, char** argv) {
  return day81::heads_program(argc, argv, "heads", "query heads that share a head of keys", heads);
}
