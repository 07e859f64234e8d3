// SPDX-License-Identifier: MIT
// Hello from the GPU: one function, run by eight threads, each of which knows its place.
//   nvcc -O3 -std=c++20 -arch=sm_75 day01_vector_add/programs/hello.cu -o hello
#include <cuda_runtime.h>

#include <cstdio>

// __global__ marks a kernel: the CPU launches it, the GPU runs it, once for each thread of the launch.
__global__ void hello() {
  printf("hello from thread %u of block %u, element %u\n", threadIdx.x, blockIdx.x,
         blockIdx.x * blockDim.x + threadIdx.x);
}

int main() {
  hello<<<2, 4>>>();                       // 2 blocks of 4 threads; the call returns before they have run
  cudaError_t error = cudaGetLastError();  // was the launch itself accepted?
  if (error == cudaSuccess) error = cudaDeviceSynchronize();  // wait, and ask whether it ran to its end
  if (error != cudaSuccess) {
    std::fprintf(stderr, "hello: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    return 1;
  }
  std::printf("hello from the CPU: 2 blocks x 4 threads are done\n");
}
