// SPDX-License-Identifier: MIT
//
// Kernels that launch kernels, and parameters of class type.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "simt/runtime.h"

namespace nested_launch_test {

struct Buffer {
  explicit Buffer(int n) { cudaMallocManaged(&p, n * sizeof(int)); }
  ~Buffer() { cudaFree(p); }
  int* p;
};

__global__ void add_one(int* p) {
  atomicAdd(&p[blockIdx.x], 1);
}
__global__ void parent(int* p) {
  p[threadIdx.x] = 10 * threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 2) add_one<<<4, 3>>>(p);
}
TEST(NestedLaunch, ChildrenRunBeforeTheHostGoesOn) {
  const Buffer b(4);
  parent<<<1, 4>>>(b.p);
  add_one<<<4, 1>>>(b.p);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(b.p[i], 10 * i + 7);
}

// Sums the numbers below n by halves, each half a kernel of its own.
__global__ void halve(int* sum, int first, int n) {
  if (n == 1) {
    atomicAdd(sum, first);
  } else {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    halve<<<1, 1, 0, stream>>>(sum, first, n / 2);
    cudaStreamDestroy(stream);
    halve<<<1, 1>>>(sum, first + n / 2, n - n / 2);
  }
}
TEST(NestedLaunch, GoesDeeper) {
  const Buffer b(1);
  *b.p = 0;
  halve<<<1, 1>>>(b.p, 0, 100);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*b.p, 99 * 100 / 2);
}

__global__ void endless(int* p) {
  ++*p;
  endless<<<1, 1>>>(p);
}
__global__ void too_large(int* p) {
  add_one<<<1, 2048>>>(p);
}
void expect_refused(void (*kernel)(int*)) {
  int* p;
  cudaMallocManaged(&p, sizeof(int));
  *p = 0;
  kernel<<<1, 1>>>(p);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_GT(simt::reports(), 0);
  cudaDeviceReset();  // frees p, too
  simt::forget_reports();
}
TEST(NestedLaunch, RefusesWhatAGpuRefuses) {
  expect_refused(endless);
  expect_refused(too_large);
}

// Copied on the host, as C++ says; on the device a parameter is bytes.
struct Counted {
  explicit Counted(int* counts_) : counts(counts_) {}
  __host__ __device__ Counted(const Counted& other) : counts(other.counts) { ++counts[0]; }
  __host__ __device__ ~Counted() { ++counts[1]; }
  int* counts;
};
__global__ void use(Counted c, int* seen) {
  atomicAdd(seen, c.counts != nullptr);
}
TEST(Parameters, AreBytesOnTheDevice) {
  const Buffer counts(2), seen(1);
  counts.p[0] = counts.p[1] = *seen.p = 0;
  {
    const Counted counted(counts.p);
    use<<<8, 32>>>(counted, seen.p);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*seen.p, 256);
  EXPECT_LE(counts.p[0], 2);
  EXPECT_EQ(counts.p[1], counts.p[0] + 1);
}

}  // namespace nested_launch_test
