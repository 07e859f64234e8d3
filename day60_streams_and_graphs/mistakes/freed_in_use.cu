// SPDX-License-Identifier: MIT
//
// A buffer is given back in one stream while a kernel of another one still uses it. cudaFree() would wait for
// all; cudaFreeAsync() waits for its own stream alone.
// plain: [simt-use-after-free]
// checked: [simt-use-after-free]
#include <cuda_runtime.h>

__global__ void fill(int* x) {
  x[threadIdx.x] = threadIdx.x;
}

int main() {
  cudaStream_t work, memory;
  cudaStreamCreate(&work);
  cudaStreamCreate(&memory);
  int* x;
  cudaMallocAsync(&x, 32 * sizeof(int), memory);
  cudaStreamSynchronize(memory);
  fill<<<1, 32, 0, work>>>(x);
  if (cudaGetLastError() != cudaSuccess) return 1;
  cudaFreeAsync(x, memory);  // an event of `work` is missing, for which `memory` waits
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
