// SPDX-License-Identifier: MIT
#include "tests/model/product_wrong.h"

#include "common/check.h"

namespace model {
namespace {

// A block has an element of c, a thread a part of k.
__global__ void atomics_kernel(const Product<float> p) {
  const int row = static_cast<int>(blockIdx.x) / p.n, col = static_cast<int>(blockIdx.x) % p.n;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < p.k; i += static_cast<int>(blockDim.x))
    sum += p.a.data[row * p.a.pitch + i] * p.b.data[i * p.b.pitch + col];
  if (threadIdx.x == 0) p.c.data[row * p.c.pitch + col] = 0;
  __syncthreads();
  atomicAdd(&p.c.data[row * p.c.pitch + col], sum);
}

}  // namespace

void wrong_atomics(const Product<float>& p, cudaStream_t stream) {
  atomics_kernel<<<static_cast<unsigned>(p.m * p.n), 32 * static_cast<unsigned>(p.split), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace model
