// SPDX-License-Identifier: MIT
// What `days doctor` compiles and runs to see whether kernels work here: 256 threads square their index.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void square(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main() {
  int* out = nullptr;
  int host[256] = {};
  if (cudaMalloc(&out, sizeof host) == cudaSuccess) {
    square<<<1, 256>>>(out);
    if (cudaGetLastError() == cudaSuccess) cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
  }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  if (error == cudaSuccess && host[255] != 255 * 255) std::printf("a kernel ran and wrote nothing\n");
  return error == cudaSuccess && host[255] == 255 * 255 ? 0 : 1;
}
