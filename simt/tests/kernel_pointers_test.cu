// SPDX-License-Identifier: MIT
//
// Kernels that programs keep as void*: in variables, tables and structs.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace kernel_pointers_test {

template <int kValue>
__global__ void set(int* p) {
  *p = kValue;
}
__global__ void __launch_bounds__(64) add(int* p, int a, double b) {
  *p += a + static_cast<int>(b);
}
struct Node {
  const void* function;
};

cudaError_t start(const void* kernel, void** arguments) {
  return cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr);
}

TEST(KernelPointers, AreLaunchedWithTheirArguments) {
  int* p;
  ASSERT_EQ(cudaMallocManaged(&p, sizeof(int)), cudaSuccess);
  void* const table[] = {(void*)set<7>, reinterpret_cast<void*>(&set<8>)};
  const Node node{(const void*)add};
  int a = 30;
  double b = 5;
  void* arguments[] = {&p, &a, &b};
  EXPECT_EQ(start(table[1], arguments), cudaSuccess);
  EXPECT_EQ(start(node.function, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*p, 43);
  EXPECT_EQ(start(table[0], arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*p, 7);
  cudaFree(p);
}

TEST(KernelPointers, AnswerAsTheirKernels) {
  const void* const kernel = (const void*)add;
  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernel), cudaSuccess);
  EXPECT_STREQ(name, "add");
  int by_pointer = 0, by_name = 1, grid = 0, block = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&by_pointer, kernel, 64, 0), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&by_name, add, 64, 0), cudaSuccess);
  EXPECT_EQ(by_pointer, by_name);
  ASSERT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel), cudaSuccess);
  EXPECT_EQ(block, 64);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
}

TEST(KernelPointers, OtherPointersAreRefused) {
  int no_kernel = 0;
  EXPECT_EQ(start(&no_kernel, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(start(nullptr, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

}  // namespace kernel_pointers_test
