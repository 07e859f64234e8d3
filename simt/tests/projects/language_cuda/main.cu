// SPDX-License-Identifier: MIT
#include <cstdio>

extern __device__ int next(int i);
void twice(int* p);
void plus(int* p, int n);
bool done();

__global__ void count(int* p) {
  p[threadIdx.x] = next(static_cast<int>(threadIdx.x));
}

int main() {
  int* p = nullptr;
  cudaMallocManaged(&p, 32 * sizeof(int));
  count<<<1, 32>>>(p);
  twice(p);
  plus(p, 3);
  if (!done()) return 1;
  std::printf("%d, expected 67\n", p[31]);
  return p[31] != 67;
}
