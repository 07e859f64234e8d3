// SPDX-License-Identifier: MIT
//
// Two halves go through two streams, and the host waits for the first stream alone before it reads both results.
// plain: 128 of 256 elements are wrong
// checked: [simt-stream-order]
// checked: mistakes/missing_wait.cu:33
#include <cuda_runtime.h>

#include <cstdio>

__global__ void twice(const int* x, int* y) {
  y[threadIdx.x] = 2 * x[threadIdx.x];
}

int main() {
  int *x, *y, *from, *to;
  cudaMallocHost(&x, 256 * sizeof(int));  // pinned, so that copies run beside the host
  cudaMallocHost(&y, 256 * sizeof(int));
  for (int i = 0; i < 256; ++i) x[i] = i + 1, y[i] = 0;
  cudaMalloc(&from, 256 * sizeof(int));
  cudaMalloc(&to, 256 * sizeof(int));
  cudaStream_t streams[2];
  for (int half = 0; half < 2; ++half) {
    const int first = 128 * half;
    cudaStreamCreate(&streams[half]);
    cudaMemcpyAsync(from + first, x + first, 128 * sizeof(int), cudaMemcpyHostToDevice, streams[half]);
    twice<<<1, 128, 0, streams[half]>>>(from + first, to + first);
    if (cudaGetLastError() != cudaSuccess) return 1;
    cudaMemcpyAsync(y + first, to + first, 128 * sizeof(int), cudaMemcpyDeviceToHost, streams[half]);
  }
  if (cudaStreamSynchronize(streams[0]) != cudaSuccess) return 1;  // and streams[1]?
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += y[i] != 2 * x[i];
  std::printf("%d of 256 elements are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
