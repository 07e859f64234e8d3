// SPDX-License-Identifier: MIT
//
// Memory that graphs allocate: in one launch, from launch to launch, freed elsewhere.

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace graph_memory_test {

__global__ void put(int* x, int value) {
  x[threadIdx.x] = value;
}
__global__ void add(int* to, const int* x) {
  to[threadIdx.x] += x[threadIdx.x];
}

class GraphMemory : public testing::Test {
 protected:
  static constexpr int kCount = 32;
  static constexpr size_t kBytes = kCount * sizeof(int);

  void SetUp() override {
    cudaGetLastError();
    simt::forget_reports();
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&sum_, kBytes), cudaSuccess);
    for (int i = 0; i < kCount; ++i) sum_[i] = 0;
    unsigned long long zero = 0;
    EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(sum_), cudaSuccess);
    EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
  }
  // Allocates, fills with 3 and adds to the sum; the memory is *x.
  cudaGraphExec_t allocates(int** x, bool frees, unsigned long long flags = 0) {
    cudaGraph_t graph;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    cudaGraphNode_t alloc, fill, use, gone;
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location = {cudaMemLocationTypeDevice, 0};
    p.bytesize = kBytes;
    EXPECT_EQ(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &p), cudaSuccess);
    *x = static_cast<int*>(p.dptr);
    int three = 3;
    void *fill_arguments[] = {x, &three}, *use_arguments[] = {&sum_, x};
    cudaKernelNodeParams kernel = {};
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(kCount);
    kernel.func = (void*)put;
    kernel.kernelParams = fill_arguments;
    EXPECT_EQ(cudaGraphAddKernelNode(&fill, graph, &alloc, 1, &kernel), cudaSuccess);
    kernel.func = (void*)add;
    kernel.kernelParams = use_arguments;
    EXPECT_EQ(cudaGraphAddKernelNode(&use, graph, &fill, 1, &kernel), cudaSuccess);
    if (frees) {
      EXPECT_EQ(cudaGraphAddMemFreeNode(&gone, graph, &use, 1, *x), cudaSuccess);
      void* freed = nullptr;
      EXPECT_EQ(cudaGraphMemFreeNodeGetParams(gone, &freed), cudaSuccess);
      EXPECT_EQ(freed, *x);
    }
    cudaGraphExec_t exec;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, flags), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }
  static unsigned long long attribute(cudaGraphMemAttributeType type) {
    unsigned long long bytes = ~0ull;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, type, &bytes), cudaSuccess);
    return bytes;
  }

  cudaStream_t stream_ = nullptr;
  int* sum_ = nullptr;
};

TEST_F(GraphMemory, EachLaunchBringsItAnew) {
  int* x;
  const cudaGraphExec_t exec = allocates(&x, true);
  EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), 0u) << "nothing is there before a launch";
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(sum_[kCount - 1], 9);
  EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0u);
  EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemHigh), kBytes);
  EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), kBytes) << "kept until it is trimmed";
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  EXPECT_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), 0u);
  unsigned long long zero = 0, one = 1;
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero), cudaSuccess);
  EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemHigh), 0u);
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(1, cudaGraphMemAttrUsedMemHigh, &one), cudaErrorInvalidDevice);
  cudaGetLastError();
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// In every way that CUDA knows, and then launched again.
TEST_F(GraphMemory, FreedOutsideTheGraph) {
  int* x;
  const cudaGraphExec_t exec = allocates(&x, false);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  add<<<1, kCount, 0, stream_>>>(sum_, x);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), kBytes);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
  EXPECT_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0u);

  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  add<<<1, kCount, 0, stream_>>>(sum_, x);
  EXPECT_EQ(cudaFreeAsync(x, stream_), cudaSuccess) << "the launch has not run yet";

  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t frees;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, x), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, sum_), cudaErrorInvalidValue) << "no graph's";
  cudaGetLastError();
  ASSERT_EQ(cudaGraphInstantiate(&frees, graph, 0), cudaSuccess);
  std::vector<int> copy(kCount);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(copy.data(), x, kBytes, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(frees, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(copy, std::vector<int>(kCount, 3));
  EXPECT_EQ(sum_[0], 3 * 3 + 2 * 3);
  for (const cudaGraphExec_t e : {exec, frees}) EXPECT_EQ(cudaGraphExecDestroy(e), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(GraphMemory, StaysWhenTheGraphIsGone) {
  int* x;
  const cudaGraphExec_t exec = allocates(&x, false);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  add<<<1, kCount, 0, stream_>>>(sum_, x);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(sum_[5], 6);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
}

TEST_F(GraphMemory, AutoFreeOnLaunch) {
  int* x;
  const cudaGraphExec_t exec = allocates(&x, false, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(sum_[1], 9);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// Two streams, one of them gone before the capture ends.
TEST_F(GraphMemory, CapturedAllocations) {
  cudaStream_t other;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  int *x, *y;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  for (cudaEvent_t* e : {&fork, &join}) ASSERT_EQ(cudaEventCreate(e), cudaSuccess);
  for (int** p : {&x, &y}) ASSERT_EQ(cudaMallocAsync(p, kBytes, stream_), cudaSuccess);
  put<<<1, kCount, 0, stream_>>>(x, 4);
  ASSERT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, fork), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, other), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(join, other), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(other), cudaSuccess);
  for (cudaEvent_t e : {fork, join}) ASSERT_EQ(cudaEventDestroy(e), cudaSuccess);
  add<<<1, kCount, 0, stream_>>>(sum_, y);
  for (int* p : {x, y}) ASSERT_EQ(cudaFreeAsync(p, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(sum_[7], 8);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphMemory, MisuseIsReported) {
  int* x;
  const cudaGraphExec_t exec = allocates(&x, false);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFreeAsync(x, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("[simt-free]"), std::string::npos) << "before a launch: " << text;

  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_NE(cudaStreamSynchronize(stream_), cudaSuccess);
  text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("is still allocated by its last launch"), std::string::npos) << text;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&sum_, kBytes), cudaSuccess);

  const cudaGraphExec_t again = allocates(&x, true);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphLaunch(again, stream_), cudaSuccess);
  put<<<1, kCount, 0, stream_>>>(x, 1);  // after the free
  EXPECT_NE(cudaStreamSynchronize(stream_), cudaSuccess);
  text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("[simt-use-after-free]"), std::string::npos) << text;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(again), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&sum_, kBytes), cudaSuccess);
  simt::forget_reports();
}

}  // namespace graph_memory_test
