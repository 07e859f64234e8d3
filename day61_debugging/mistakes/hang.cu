// SPDX-License-Identifier: MIT
//
// A block that keeps nothing has nothing to write, so it returns, and its turn is never passed on. All later blocks
// wait for ever; but only where 64 elements in a row are negative, as the second 64 are here.
// plain: [simt-hang]
// checked: [simt-hang]
#include <cuda_runtime.h>

#include <cstdio>

struct Progress {
  int tickets, turn, total;
};

__global__ void keep(const int* x, int* kept, Progress* all) {
  __shared__ int ticket, first, flags[64];
  const int t = threadIdx.x;
  if (t == 0) ticket = atomicAdd(&all->tickets, 1);
  __syncthreads();
  const int i = 64 * ticket + t;
  flags[t] = x[i] > 0;
  const int count = __syncthreads_count(x[i] > 0);
  if (count == 0) return;  // nothing to write, but the turn must be passed on
  if (t == 0) {
    while (atomicAdd(&all->turn, 0) != ticket) {
    }
    first = atomicAdd(&all->total, count);
    __threadfence();
    atomicExch(&all->turn, ticket + 1);
  }
  __syncthreads();
  int place = first;
  for (int before = 0; before < t; ++before) place += flags[before];
  if (x[i] > 0) kept[place] = x[i];
}

int main() {
  static int host[256];
  for (int i = 0; i < 256; ++i) host[i] = i / 64 == 1 ? -1 : i % 7 - 3;
  int *x, *kept;
  Progress* all;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&kept, sizeof host);
  cudaMalloc(&all, sizeof(Progress));
  cudaMemset(all, 0, sizeof(Progress));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  keep<<<4, 64>>>(x, kept, all);
  if (cudaGetLastError() != cudaSuccess) return 1;
  const bool right = cudaDeviceSynchronize() == cudaSuccess;
  std::printf("%s\n", right ? "all blocks had their turn" : "the kernel did not end");
  return right ? 0 : 1;
}
