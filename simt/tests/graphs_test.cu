// SPDX-License-Identifier: MIT
//
// Graphs: captured and made by hand, replayed, updated, asked about.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace graphs_test {

__global__ void add(int* x, int value) {
  x[threadIdx.x] += value;
}
__global__ void multiply(int* x, int value) {
  x[threadIdx.x] *= value;
}
__global__ void sum_of(int* to, const int* a, const int* b) {
  to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();
    for (cudaStream_t* s : {&a_, &b_}) ASSERT_EQ(cudaStreamCreate(s), cudaSuccess);
    for (cudaEvent_t* e : {&fork_, &join_}) ASSERT_EQ(cudaEventCreate(e), cudaSuccess);
    for (int** p : {&x_, &y_, &z_}) {
      ASSERT_EQ(cudaMallocManaged(p, kCount * sizeof(int)), cudaSuccess);
      for (int i = 0; i < kCount; ++i) (*p)[i] = 0;
    }
  }
  void TearDown() override {
    for (cudaStream_t s : {a_, b_}) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
    for (cudaEvent_t e : {fork_, join_}) EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
    for (int* p : {x_, y_, z_}) EXPECT_EQ(cudaFree(p), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
  }
  void expect_error(cudaError_t got, cudaError_t expected) {
    EXPECT_EQ(got, expected) << cudaGetErrorName(got);
    EXPECT_EQ(cudaGetLastError(), expected);
  }
  cudaGraphExec_t instantiated(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    return exec;
  }
  void launch(cudaGraphExec_t exec) {
    EXPECT_EQ(cudaGraphLaunch(exec, a_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  }

  static constexpr int kCount = 32;
  cudaStream_t a_ = nullptr, b_ = nullptr;
  cudaEvent_t fork_ = nullptr, join_ = nullptr;
  int *x_ = nullptr, *y_ = nullptr, *z_ = nullptr;
};

// ---- capture ----

TEST_F(Graphs, ACaptureForksJoinsAndReplays) {
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  ASSERT_EQ(cudaEventRecord(fork_, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(b_, fork_), cudaSuccess);
  cudaStreamCaptureStatus status;
  ASSERT_EQ(cudaStreamIsCapturing(b_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  add<<<1, kCount, 0, a_>>>(y_, 10);
  add<<<1, kCount, 0, b_>>>(z_, 100);
  ASSERT_EQ(cudaEventRecord(join_, b_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(a_, join_), cudaSuccess);
  sum_of<<<1, kCount, 0, a_>>>(x_, y_, z_);
  ASSERT_EQ(cudaMemcpyAsync(y_, x_, kCount * sizeof(int), cudaMemcpyDeviceToDevice, a_), cudaSuccess);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  ASSERT_EQ(cudaStreamIsCapturing(b_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(z_[0], 0) << "a capture runs nothing";

  size_t nodes = 0, edges = 0, roots = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(cudaGraphGetRootNodes(graph, nullptr, &roots), cudaSuccess);
  EXPECT_EQ(nodes, 5u);
  EXPECT_EQ(edges, 5u);
  EXPECT_EQ(roots, 1u);
  const cudaGraphExec_t exec = instantiated(graph);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  launch(exec);
  EXPECT_EQ(x_[0], 110);
  launch(exec);
  EXPECT_EQ(x_[kCount - 1], 320) << "y was 110 + 10, z is 200";
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(Graphs, LaunchesOfOneGraphFollowEachOther) {
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  multiply<<<1, kCount, 0, a_>>>(x_, 2);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  const cudaGraphExec_t exec = instantiated(graph);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(cudaGraphLaunch(exec, i % 2 ? a_ : b_), cudaSuccess);
  EXPECT_EQ(x_[0], 0);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x_[0], 62);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graphs, NoneIsLaunchedIntoACapture) {
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  const cudaGraphExec_t exec = instantiated(graph);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  expect_error(cudaGraphLaunch(exec, a_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaGraphLaunch(exec, b_), cudaSuccess);  // no part of the capture
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureInvalidated);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x_[0], 1);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(Graphs, WhatACaptureRefuses) {
  cudaGraph_t graph = nullptr;
  expect_error(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
               cudaErrorStreamCaptureUnsupported);
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorIllegalState);

  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  expect_error(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  expect_error(cudaStreamSynchronize(a_), cudaErrorStreamCaptureUnsupported);
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureInvalidated);

  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  expect_error(cudaMemset(x_, 0, 4), cudaErrorStreamCaptureImplicit);
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureInvalidated);

  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, a_), cudaSuccess);
  expect_error(cudaEventSynchronize(fork_), cudaErrorCapturedEvent);
  ASSERT_EQ(cudaStreamWaitEvent(b_, fork_), cudaSuccess);
  add<<<1, kCount, 0, b_>>>(x_, 1);
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureUnjoined);

  ASSERT_EQ(cudaEventRecord(join_, b_), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaSuccess);
  expect_error(cudaStreamWaitEvent(a_, join_), cudaErrorStreamCaptureIsolation);
  expect_error(cudaStreamEndCapture(a_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
}

// ---- nodes made by hand ----

TEST_F(Graphs, NodesOfEveryKind) {
  cudaGraph_t graph, child;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
  cudaGraphNode_t fill, kernel, inner, sub, copy, host, record, empty;
  const cudaMemsetParams to_three = {x_, 0, 3, 4, kCount, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &to_three), cudaSuccess);
  int value = 4;
  void* arguments[] = {&x_, &value};
  cudaKernelNodeParams parameters = {};
  parameters.func = (void*)add;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &parameters), cudaSuccess);
  value = 1000;  // was copied
  int factor = 5;
  void* inner_arguments[] = {&x_, &factor};
  parameters.func = (void*)multiply;
  parameters.kernelParams = inner_arguments;
  ASSERT_EQ(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&sub, graph, &kernel, 1, child), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &sub, 1, y_, x_, kCount * sizeof(int), cudaMemcpyDefault),
            cudaSuccess);
  int seen = 0;
  struct Look {
    int* y;
    int* seen;
  } look{y_, &seen};
  const cudaHostNodeParams host_parameters = {
      [](void* p) { *static_cast<Look*>(p)->seen = static_cast<Look*>(p)->y[7]; }, &look};
  ASSERT_EQ(cudaGraphAddHostNode(&host, graph, &copy, 1, &host_parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph, &host, 1, fork_), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, &record, 1), cudaSuccess);

  const cudaGraphExec_t exec = instantiated(graph);
  ASSERT_EQ(cudaGraphLaunch(exec, a_), cudaSuccess);
  EXPECT_EQ(seen, 0);
  ASSERT_EQ(cudaEventSynchronize(fork_), cudaSuccess);
  EXPECT_EQ(seen, 35);
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);

  cudaGraphNodeType type;
  EXPECT_EQ(cudaGraphNodeGetType(sub, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeGraph);
  cudaGraphNode_t before[2] = {};
  size_t count = 2;
  EXPECT_EQ(cudaGraphNodeGetDependencies(copy, before, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(before[0], sub);
  count = 2;
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(copy, before, &count), cudaSuccess);
  EXPECT_EQ(before[0], host);

  // New parameters: in the executable graph alone, then in the graph.
  cudaMemsetParams to_six = to_three;
  to_six.value = 6;
  ASSERT_EQ(cudaGraphExecMemsetNodeSetParams(exec, fill, &to_six), cudaSuccess);
  int other = 0;
  void* other_arguments[] = {&x_, &other};
  parameters.func = (void*)add;
  parameters.kernelParams = other_arguments;
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters), cudaSuccess);
  launch(exec);
  EXPECT_EQ(seen, 30);
  ASSERT_EQ(cudaGraphNodeSetEnabled(exec, sub, 0), cudaSuccess);
  launch(exec);
  EXPECT_EQ(seen, 6);
  ASSERT_EQ(cudaGraphMemsetNodeSetParams(fill, &to_six), cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  ASSERT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaSuccess);
  launch(exec);
  EXPECT_EQ(seen, 10) << "the graph's own kernel adds 4, and its child stays off";
  EXPECT_EQ(cudaGraphDestroyNode(empty), cudaSuccess);
  expect_error(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);

  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph, path.c_str(), 0), cudaSuccess);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("kernel\\nadd"), std::string::npos) << text.str();
  std::remove(path.c_str());
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  for (const cudaGraph_t g : {graph, child}) EXPECT_EQ(cudaGraphDestroy(g), cudaSuccess);
}

TEST_F(Graphs, ClonesAndEdges) {
  cudaGraph_t graph, clone;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphNode_t n[3], twin;
  for (cudaGraphNode_t& node : n) ASSERT_EQ(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(graph, n, n + 1, 2), cudaSuccess);
  ASSERT_EQ(cudaGraphClone(&clone, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphNodeFindInClone(&twin, n[1], clone), cudaSuccess);
  EXPECT_NE(twin, n[1]);
  ASSERT_EQ(cudaGraphRemoveDependencies(graph, n, n + 1, 1), cudaSuccess);
  size_t edges = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 1u);
  EXPECT_EQ(cudaGraphGetEdges(clone, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 2u);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &n[2], &n[1], 1), cudaSuccess);
  cudaGraphExec_t exec;
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);  // a cycle
  for (const cudaGraph_t g : {graph, clone}) EXPECT_EQ(cudaGraphDestroy(g), cudaSuccess);
  expect_error(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  expect_error(cudaGraphLaunch(reinterpret_cast<cudaGraphExec_t>(graph), a_), cudaErrorInvalidValue);
}

TEST_F(Graphs, BadNodes) {
  cudaGraph_t graph;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphNode_t node;
  cudaKernelNodeParams parameters = {};
  parameters.func = &parameters;
  expect_error(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), cudaErrorInvalidDeviceFunction);
  int value = 4;
  void* arguments[] = {&x_, &value};
  parameters.func = (void*)add;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(2000);
  parameters.kernelParams = arguments;
  expect_error(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), cudaErrorInvalidConfiguration);
  const cudaMemsetParams odd = {x_, 0, 3, 3, kCount, 1};
  expect_error(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &odd), cudaErrorInvalidValue);
  size_t nodes = 9;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 0u) << "a refused node is not left behind";
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graphs, NodesInNoOrderThatShareMemoryAreReported) {
  cudaGraph_t graph;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphNode_t fill, copy;
  const cudaMemsetParams parameters = {x_, 0, 3, 4, kCount, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &parameters), cudaSuccess);
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, y_, x_, kCount * sizeof(int), cudaMemcpyDefault),
      cudaSuccess);
  const cudaGraphExec_t exec = instantiated(graph);
  testing::internal::CaptureStderr();
  launch(exec);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("[simt-stream-order]"), std::string::npos) << text;
  simt::forget_reports();
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace graphs_test
