// SPDX-License-Identifier: MIT
// The whole life of a GPU computation with nothing hidden: allocate, copy in, launch, copy out, check, free;
// then three mistakes and what CUDA says to each.
//   nvcc -O3 -std=c++20 -arch=sm_75 day01_vector_add/programs/vector_add_in_the_open.cu -o in_the_open
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // n is small here, so int will do
  if (i < n) c[i] = a[i] + b[i];
}

// Every CUDA call returns an error code, and code that drops it goes on with garbage. From here on the
// course's CUDA_CHECK(call) does this, and throws.
static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s (%s)\n", what, cudaGetErrorString(error), cudaGetErrorName(error));
  std::exit(1);
}

static void show(const char* mistake, cudaError_t error) {
  std::printf("%-34s %s\n%34s %s\n", mistake, cudaGetErrorName(error), "", cudaGetErrorString(error));
}

int main() {
  const int n =
      1'000'003;  // a prime: no block size divides it, so the last block has threads without an element
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);  // host memory: the CPU's
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5f * static_cast<float>(i);
    b[i] = 0.25f * static_cast<float>(i);
  }

  // Device memory is the GPU's own. These pointers mean nothing to the CPU: never follow one in host code.
  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  check(cudaMalloc(&device_a, bytes), "cudaMalloc a");
  check(cudaMalloc(&device_b, bytes), "cudaMalloc b");
  check(cudaMalloc(&device_c, bytes), "cudaMalloc c");

  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");
  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "copy of b");

  const int threads = 256;                         // in a block
  const int blocks = (n + threads - 1) / threads;  // rounded up: 3907 blocks, 1,000,192 threads
  add_kernel<<<blocks, threads>>>(device_a, device_b, device_c, n);
  check(cudaGetLastError(), "launch");       // a launch returns nothing: ask whether it was accepted
  check(cudaDeviceSynchronize(), "kernel");  // wait for it: what goes wrong while it runs shows up here

  check(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost), "copy of c");
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !(c[i] == a[i] + b[i]);  // written so that a NaN counts as wrong
  std::printf("%d blocks x %d threads added %d elements, %d wrong; c[3] = %g + %g = %g\n\n", blocks, threads,
              n, wrong, a[3], b[3], c[3]);

  // Mistake 1: 2048 threads in a block; 1024 is the most. Nothing runs, c stays as it was, and only asking
  // tells.
  add_kernel<<<1, 2048>>>(device_a, device_b, device_c, n);
  const cudaError_t bad_launch = cudaGetLastError();  // returns the error and clears it
  show("add_kernel<<<1, 2048>>>", bad_launch);

  // Mistake 2: more memory than there is (one pebibyte).
  float* huge = nullptr;
  const cudaError_t bad_malloc = cudaMalloc(&huge, size_t{1} << 50);
  show("cudaMalloc of 2^50 bytes", bad_malloc);
  cudaGetLastError();  // cudaMalloc returned its error, but also left it behind: clear it

  // Mistake 3: a GPU that this machine does not have.
  const cudaError_t bad_device = cudaSetDevice(99);
  show("cudaSetDevice(99)", bad_device);
  cudaGetLastError();

  // None of the three harmed what was there: such errors are not "sticky". A kernel that leaves its memory
  // is; after that every call returns an error until the program ends (day 61).
  check(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost), "copy after the mistakes");
  std::printf("\nafter three mistakes c[3] is still %g\n", c[3]);

  check(cudaFree(device_a), "cudaFree a");
  check(cudaFree(device_b), "cudaFree b");
  check(cudaFree(device_c), "cudaFree c");
  // Which error a refused launch gets differs between drivers: an invalid configuration or an invalid value.
  const bool as_expected =
      (bad_launch == cudaErrorInvalidConfiguration || bad_launch == cudaErrorInvalidValue) &&
      bad_malloc == cudaErrorMemoryAllocation && bad_device == cudaErrorInvalidDevice;
  return wrong == 0 && as_expected ? 0 : 1;
}
