// SPDX-License-Identifier: MIT
//
// The host reads the result before the copy has brought it: cudaMemcpyAsync() to pinned memory returns at once.
// plain: y[0] is 0, expected 1
// checked: error: host code reads memory before the operation that writes it has run [simt-stream-order]
// checked: mistakes/read_too_early.cu:26
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add_one(int* data) {
  data[threadIdx.x] += 1;
}

int main() {
  int *y, *device;
  cudaMallocHost(&y, 32 * sizeof(int));
  cudaMalloc(&device, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) y[i] = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(device, y, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
  add_one<<<1, 32, 0, stream>>>(device);
  if (cudaGetLastError() != cudaSuccess) return 1;
  cudaMemcpyAsync(y, device, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
  const bool right = y[0] == 1;  // cudaStreamSynchronize(stream) is missing before this line
  if (!right) std::printf("y[0] is %d, expected 1\n", y[0]);
  return right ? 0 : 1;
}
