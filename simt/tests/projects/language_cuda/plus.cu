// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

__global__ void plus_kernel(int* p, int n) {
  p[threadIdx.x] += n;
}
void plus(int* p, int n) {
  plus_kernel<<<1, 32>>>(p, n);
}
