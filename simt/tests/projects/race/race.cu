// SPDX-License-Identifier: MIT
__global__ void reverse(int* p) {
  __shared__ int s[64];
  s[threadIdx.x] = p[threadIdx.x];
  p[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int* p = nullptr;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  reverse<<<1, 64>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
