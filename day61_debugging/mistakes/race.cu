// SPDX-License-Identifier: MIT
//
// The barrier at the end of the loop is missing: a fast thread puts the next row where a slow one still reads this one.
// In simt's normal order of threads the result is right all the same, so that only the checked build says something.
// checked: error: race on shared memory [simt-race-shared]
// checked: mistakes/race.cu:16
// checked: mistakes/race.cu:18
#include <cuda_runtime.h>

#include <cstdio>

__global__ void gradient(const int* x, int* g) {
  __shared__ int row[256];
  const int t = threadIdx.x;
  for (int r = 0; r < 4; ++r) {
    row[t] = x[256 * r + t];
    __syncthreads();
    g[256 * r + t] = t == 255 ? 0 : row[t + 1] - row[t];
  }  // __syncthreads() is missing before this line
}

int main() {
  constexpr int kPixels = 4 * 256;
  static int host[kPixels], got[kPixels];
  for (int i = 0; i < kPixels; ++i) host[i] = i * i % 1009;
  int *x, *g;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&g, sizeof got);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  gradient<<<1, 256>>>(x, g);
  if (cudaGetLastError() != cudaSuccess) return 1;
  if (cudaMemcpy(got, g, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < kPixels; ++i) wrong += got[i] != (i % 256 == 255 ? 0 : host[i + 1] - host[i]);
  std::printf("%d of %d pixels are wrong\n", wrong, kPixels);
  return wrong == 0 ? 0 : 1;
}
