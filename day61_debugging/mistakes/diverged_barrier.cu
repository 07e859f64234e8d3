// SPDX-License-Identifier: MIT
//
// The barrier stands inside the if: the threads that add wait there for others that never come by.
// plain: [simt-barrier-divergence]
// checked: [simt-barrier-divergence]
// checked: mistakes/diverged_barrier.cu:17
#include <cuda_runtime.h>

#include <cstdio>

__global__ void shares(const int* x, int* share) {
  __shared__ int part[256];
  const int t = threadIdx.x;
  part[t] = x[t];
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) {
      __syncthreads();  // belongs before the if
      part[t] += part[t + half];
    }
  }
  __syncthreads();
  share[t] = 1000 * x[t] / part[0];
}

int main() {
  static int host[256], got[256];
  int sum = 0;
  for (int i = 0; i < 256; ++i) sum += host[i] = 1 + i * i % 1009;
  int *x, *share;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&share, sizeof got);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  shares<<<1, 256>>>(x, share);
  if (cudaGetLastError() != cudaSuccess) return 1;
  if (cudaMemcpy(got, share, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += got[i] != 1000 * host[i] / sum;
  std::printf("%d of 256 shares are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
