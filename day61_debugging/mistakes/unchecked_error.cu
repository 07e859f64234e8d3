// SPDX-License-Identifier: MIT
//
// The table needs 64 KiB of shared memory, and a block gets 48 KiB unasked. The launch is refused, no thread runs, and
// nobody asks for the error: the program goes on with what was in y before.
// plain: 1000 of 1000 codes are wrong
// plain: [simt-launch]
// checked: [simt-launch]
#include <cuda_runtime.h>

#include <cstdio>

__global__ void lookup(const int* codes, const int* table, int* y, int n) {
  extern __shared__ int near[];
  for (int entry = threadIdx.x; entry < 16384; entry += 256) near[entry] = table[entry];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) y[i] = near[codes[i]];
}

int main() {
  constexpr int kCodes = 1000, kEntries = 16384;
  static int codes[kCodes], meanings[kEntries], got[kCodes];
  for (int entry = 0; entry < kEntries; ++entry) meanings[entry] = 1 + entry * 7 % 1009;
  for (int i = 0; i < kCodes; ++i) codes[i] = i * i % kEntries;
  int *from, *table, *y;
  cudaMalloc(&from, sizeof codes);
  cudaMalloc(&table, sizeof meanings);
  cudaMalloc(&y, sizeof got);
  cudaMemset(y, 0, sizeof got);
  cudaMemcpy(from, codes, sizeof codes, cudaMemcpyHostToDevice);
  cudaMemcpy(table, meanings, sizeof meanings, cudaMemcpyHostToDevice);
  lookup<<<1, 256, kEntries * sizeof(int)>>>(from, table, y, kCodes);  // nobody asks whether it was accepted
  cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCodes; ++i) wrong += got[i] != meanings[codes[i]];
  std::printf("%d of %d codes are wrong\n", wrong, kCodes);
  return wrong == 0 ? 0 : 1;
}
