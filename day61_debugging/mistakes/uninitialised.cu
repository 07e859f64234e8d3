// SPDX-License-Identifier: MIT
//
// 128 threads set 128 of 256 bins to 0, one each. The other bins hold what the block before left in shared memory.
// plain: bytes are counted wrong
// checked: [simt-uninit-shared]
// checked: mistakes/uninitialised.cu:15
#include <cuda_runtime.h>

#include <cstdio>

__global__ void histogram(const int* x, int* counts, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;  // 128 threads, 256 bins
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 128) atomicAdd(&bins[x[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += 128) counts[b] = bins[b];
}

int main() {
  constexpr int kBytes = 1000;
  static int host[kBytes], expected[256], got[256];
  for (int i = 0; i < kBytes; ++i) ++expected[host[i] = i * i % 251];
  int *x, *counts;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&counts, sizeof got);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  histogram<<<1, 128>>>(x, counts, kBytes);
  if (cudaGetLastError() != cudaSuccess) return 1;
  if (cudaMemcpy(got, counts, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int b = 0; b < 256; ++b) wrong += got[b] != expected[b];
  std::printf("%d of 256 bytes are counted wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
