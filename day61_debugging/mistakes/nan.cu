// SPDX-License-Identifier: MIT
//
// The variance as mean(x x) - mean(x) mean(x): two numbers of 25 million, each rounded, whose difference should be 0
// and comes out below it. No access is wrong, so that no tool reports anything: only the result shows it.
// plain: is nan, expected 0
// checked: is nan, expected 0
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>

__global__ void normalise(const float* x, float* y, int readings) {
  const int reading = threadIdx.x;
  if (reading >= readings) return;
  float sum = 0, squares = 0;
  for (int s = 0; s < 16; ++s) {
    const float value = x[16 * reading + s];
    sum += value;
    squares += value * value;
  }
  const float mean = sum / 16, variance = squares / 16 - mean * mean;
  for (int s = 0; s < 16; ++s) y[16 * reading + s] = (x[16 * reading + s] - mean) / sqrtf(variance + 1e-5f);
}

int main() {
  constexpr int kReadings = 64;
  static float host[16 * kReadings], got[16 * kReadings];
  for (int i = 0; i < 16 * kReadings; ++i)
    host[i] = static_cast<float>(5000 + i / 16);  // each reading is constant
  float *x, *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof got);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  normalise<<<1, kReadings>>>(x, y, kReadings);
  if (cudaGetLastError() != cudaSuccess) return 1;
  if (cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < 16 * kReadings; ++i) {
    if (got[i] == 0) continue;
    if (++wrong == 1) std::printf("y[%d], of reading %d, is %g, expected 0\n", i, i / 16, std::fabs(got[i]));
  }
  std::printf("%d of %d samples are wrong\n", wrong, 16 * kReadings);
  return wrong == 0 ? 0 : 1;
}
