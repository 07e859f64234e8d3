// SPDX-License-Identifier: MIT
//
// The host fills its pinned buffer with the next chunk while the copy of this one is still waiting in the stream.
// plain: chunk 0 begins with 100, expected 0
// checked: chunk 0 begins with 100, expected 0
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  int *staging, *device, first = -1;
  cudaMallocHost(&staging, 32 * sizeof(int));
  cudaMalloc(&device, 2 * 32 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int chunk = 0; chunk < 2; ++chunk) {
    for (int i = 0; i < 32; ++i) staging[i] = 100 * chunk + i;  // too early in the second round
    cudaMemcpyAsync(device + 32 * chunk, staging, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
  }
  cudaStreamSynchronize(stream);
  cudaMemcpy(&first, device, sizeof(int), cudaMemcpyDeviceToHost);
  if (first != 0) std::printf("chunk 0 begins with %d, expected 0\n", first);
  return first == 0 ? 0 : 1;
}
