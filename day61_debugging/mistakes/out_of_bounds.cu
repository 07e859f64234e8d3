// SPDX-License-Identifier: MIT
//
// 1,000 values have 999 differences, but the guard lets 1,000 threads through. The last one reads x[1000] and writes
// d[999], which are nobody's: both buffers are rounded up to 256 bytes, so nothing faults.
// plain: [simt-oob-global]
// plain: kernel differences wrote a byte right past the end of a buffer of 3996 bytes
// checked: [simt-oob-global]
// checked: mistakes/out_of_bounds.cu:16
#include <cuda_runtime.h>

#include <cstdio>

__global__ void differences(const float* x, float* d, int values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= values) return;  // the last value has no neighbour: i + 1 >= values
  d[i] = x[i + 1] - x[i];
}

int main() {
  constexpr int kValues = 1000;
  static float host[kValues];
  for (int i = 0; i < kValues; ++i) host[i] = static_cast<float>(i * i % 1000);
  float *x, *d;
  cudaMalloc(&x, kValues * sizeof(float));
  cudaMalloc(&d, (kValues - 1) * sizeof(float));
  cudaMemcpy(x, host, kValues * sizeof(float), cudaMemcpyHostToDevice);
  differences<<<4, 256>>>(x, d, kValues);
  if (cudaGetLastError() != cudaSuccess) return 1;
  float got[kValues - 1];
  if (cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i + 1 < kValues; ++i) wrong += got[i] != host[i + 1] - host[i];
  std::printf("%d of %d differences are wrong\n", wrong, kValues - 1);
  return wrong == 0 ? 0 : 1;
}
