// SPDX-License-Identifier: MIT
//
// One stream makes what another one uses, and nothing says that the second must wait for the first.
// plain: y[31] is 0, expected 32
// checked: [simt-stream-order]
// checked: Put both into one stream, or let one wait: cudaEventRecord() there, cudaStreamWaitEvent() here.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void make(int* x) {
  x[threadIdx.x] = threadIdx.x + 1;
}
__global__ void use(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

int main() {
  int *x, *y, last = -1;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  cudaDeviceSynchronize();
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  make<<<1, 32, 0, first>>>(x);
  if (cudaGetLastError() != cudaSuccess) return 1;
  use<<<1, 32, 0, second>>>(x, y);  // an event of `first` is missing, for which `second` waits
  if (cudaGetLastError() != cudaSuccess) return 1;
  cudaMemcpy(&last, y + 31, sizeof(int), cudaMemcpyDeviceToHost);
  if (last != 32) std::printf("y[31] is %d, expected 32\n", last);
  return last == 32 ? 0 : 1;
}
