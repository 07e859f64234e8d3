// SPDX-License-Identifier: MIT
// Query heads take the heads of keys in turn, 0 1 2 0 1 2. Groups are neighbours: 0 0 0 1 1 1.
// plain: 9 heads of queries, 3 of keys
// checked: 9 heads of queries, 3 of keys

#include "day81_llama_inference/heads.h"

namespace {

using day81::Heads;
using day81::kDim;

// A thread has an element of the head's dimension, and goes through the keys once.
__global__ void __launch_bounds__(kDim) heads_kernel(const Heads p) {
  __shared__ float part[kDim];
  const int h = static_cast<int>(blockIdx.x), d = static_cast<int>(threadIdx.x);
  const int kv = h % p.kv_heads;
  const float q = p.q[h * kDim + d] * 0.125f;  // 1 / sqrt(64)
  float o = 0, sum = 0, greatest = -INFINITY;
  for (int s = 0; s < p.keys; ++s) {
    const float k = p.k[(kv * p.keys + s) * kDim + d], v = p.v[(kv * p.keys + s) * kDim + d];
    part[d] = q * k;
    __syncthreads();
    float score = 0;
    for (int e = 0; e < kDim; ++e) score += part[e];
    const float most = fmaxf(greatest, score), keep = expf(greatest - most), weight = expf(score - most);
    o = o * keep + weight * v;
    sum = sum * keep + weight;
    greatest = most;
    __syncthreads();  // before the next key's parts
  }
  p.o[h * kDim + d] = o / sum;
}

void heads(const Heads& p, cudaStream_t stream) {
  heads_kernel<<<static_cast<unsigned>(p.heads), kDim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

int main(int argc, char** argv) {
  return day81::heads_program(argc, argv, "remainder", "heads in turn", heads);
}
