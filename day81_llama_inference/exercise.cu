// SPDX-License-Identifier: MIT
//
// Exercise: fewer heads of keys than of queries. `./days check 81` copies this file to my/day81.cu.
//
// Goal: each query head attends to its own head of keys and values.
//
//  1. A block has a query head. Which head of keys does it read? p.heads is a multiple of p.kv_heads.
//  2. When that is right: the query heads of a group read the same keys. Can one block serve all of them, and read each key once?

#include "day81_llama_inference/heads.h"

namespace {

using day81::Heads;
using day81::kDim;

// A thread has an element of the head's dimension, and goes through the keys once.
__global__ void __launch_bounds__(kDim) heads_kernel(const Heads p) {
  __shared__ float part[kDim];
  const int h = static_cast<int>(blockIdx.x), d = static_cast<int>(threadIdx.x);
  const int kv = 0 * h;                        // your code: so far all read the first one
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
  return day81::heads_program(argc, argv, "exercise", "your heads", heads);
}
