// SPDX-License-Identifier: MIT
//
// Conditional nodes, nodes of any type through one function, captures into a graph that there is.

#include <gtest/gtest.h>

#include <string>

namespace graph_conditions_test {

__global__ void add(int* x, int value) {
  x[threadIdx.x] += value;
}
__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
  cudaGraphSetConditional(handle, --*left > 0);
}
__device__ int symbol[4];
__global__ void add_symbol(int* x) {
  x[threadIdx.x] += symbol[threadIdx.x % 4];
}

class GraphConditions : public testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();
    for (int** p : {&x_, &value_}) {
      ASSERT_EQ(cudaMallocManaged(p, 32 * sizeof(int)), cudaSuccess);
      for (int i = 0; i < 32; ++i) (*p)[i] = 0;
    }
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    for (int* p : {x_, value_}) EXPECT_EQ(cudaFree(p), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
  }
  template <class... Arguments>
  static cudaGraphNode_t kernel(cudaGraph_t graph, void* function, cudaGraphNode_t after,
                                Arguments... arguments) {
    void* pointers[] = {&arguments...};
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = function;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = pointers;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr, &p), cudaSuccess);
    return node;
  }
  // The bodies of a conditional node behind `after`.
  static cudaGraph_t* conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                  cudaGraphConditionalNodeType type, unsigned int size,
                                  cudaGraphNode_t after) {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, graph, &after, after != nullptr, &p), cudaSuccess);
    cudaGraphNodeType found;
    EXPECT_EQ(cudaGraphNodeGetType(node, &found), cudaSuccess);
    EXPECT_EQ(found, cudaGraphNodeTypeConditional);
    return p.conditional.phGraph_out;
  }
  cudaGraphExec_t instantiated() {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
    return exec;
  }
  // What a launch adds to x[0], with *value as the condition.
  int added(cudaGraphExec_t exec, int value) {
    *value_ = value;
    x_[0] = 0;
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    return x_[0];
  }

  cudaGraph_t graph_ = nullptr;
  cudaStream_t stream_ = nullptr;
  int *x_ = nullptr, *value_ = nullptr;
};

TEST_F(GraphConditions, IfElse) {
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_), cudaSuccess);
  const cudaGraphNode_t first = kernel(graph_, (void*)choose, nullptr, handle, value_);
  const cudaGraph_t* const bodies = conditional(graph_, handle, cudaGraphCondTypeIf, 2, first);
  kernel(bodies[0], (void*)add, kernel(bodies[0], (void*)add, nullptr, x_, 1), x_, 10);
  kernel(bodies[1], (void*)add, nullptr, x_, 500);
  const cudaGraphExec_t exec = instantiated();
  EXPECT_EQ(added(exec, 1), 11);
  EXPECT_EQ(added(exec, 0), 500);
  EXPECT_EQ(added(exec, 7), 11);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphConditions, IfWithoutElse) {
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_), cudaSuccess);
  const cudaGraphNode_t first = kernel(graph_, (void*)choose, nullptr, handle, value_);
  kernel(conditional(graph_, handle, cudaGraphCondTypeIf, 1, first)[0], (void*)add, nullptr, x_, 1);
  const cudaGraphExec_t exec = instantiated();
  EXPECT_EQ(added(exec, 0), 0);
  EXPECT_EQ(added(exec, 1), 1);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphConditions, SwitchRunsOneBodyOrNone) {
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_), cudaSuccess);
  const cudaGraphNode_t first = kernel(graph_, (void*)choose, nullptr, handle, value_);
  const cudaGraph_t* const bodies = conditional(graph_, handle, cudaGraphCondTypeSwitch, 3, first);
  for (int i = 0; i < 3; ++i) kernel(bodies[i], (void*)add, nullptr, x_, 10 + i);
  const cudaGraphExec_t exec = instantiated();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(added(exec, i), i < 3 ? 10 + i : 0);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// An inner loop of two steps in an outer one of three; each launch begins with the value given for it.
TEST_F(GraphConditions, LoopsInLoops) {
  cudaGraphConditionalHandle outer, inner;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&outer, graph_, 1, cudaGraphCondAssignDefault), cudaSuccess);
  const cudaGraph_t body = conditional(graph_, outer, cudaGraphCondTypeWhile, 1, nullptr)[0];
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&inner, body), cudaSuccess);
  const cudaGraphNode_t refill = kernel(body, (void*)add, nullptr, value_ + 1, 2);
  const cudaGraphNode_t begin = kernel(body, (void*)choose, refill, inner, value_ + 1);
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = inner;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  cudaGraphNode_t loop;
  ASSERT_EQ(cudaGraphAddNode(&loop, body, &begin, nullptr, 1, &p), cudaSuccess);
  const cudaGraph_t inside = p.conditional.phGraph_out[0];
  kernel(inside, (void*)count_down, kernel(inside, (void*)add, nullptr, x_, 1), inner, value_ + 1);
  kernel(body, (void*)count_down, loop, outer, value_);
  const cudaGraphExec_t exec = instantiated();
  EXPECT_EQ(added(exec, 3), 6);
  EXPECT_EQ(added(exec, 3), 6);
  EXPECT_EQ(added(exec, 1), 2);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// A while node between captured kernels; its body captured, too.
TEST_F(GraphConditions, InACapture) {
  cudaGraph_t captured, same;
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* last;
  size_t count = 0;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &captured), cudaSuccess);
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, captured), cudaSuccess);
  choose<<<1, 1, 0, stream_>>>(handle, value_);
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &captured, &last, nullptr, &count),
            cudaSuccess);
  ASSERT_EQ(count, 1u);
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  cudaGraphNode_t node;
  ASSERT_EQ(cudaGraphAddNode(&node, captured, last, nullptr, count, &p), cudaSuccess);
  ASSERT_EQ(cudaStreamUpdateCaptureDependencies(stream_, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
            cudaSuccess);
  add<<<1, 1, 0, stream_>>>(x_, 100);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &same), cudaSuccess);
  EXPECT_EQ(same, captured);
  const cudaGraph_t body = p.conditional.phGraph_out[0];
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  add<<<1, 1, 0, stream_>>>(x_, 1);
  count_down<<<1, 1, 0, stream_>>>(handle, value_);
  ASSERT_EQ(cudaStreamEndCapture(stream_, nullptr), cudaSuccess);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, captured, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(captured), cudaSuccess);
  EXPECT_EQ(added(exec, 0), 100);
  EXPECT_EQ(added(exec, 4), 104);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphConditions, OtherNodesByTheSameFunction) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeMemset;
  p.memset.dst = x_;
  p.memset.value = 5;
  p.memset.elementSize = 4;
  p.memset.width = 8;
  p.memset.height = 1;
  cudaGraphNode_t fill, host, copy, to_symbol, from_symbol;
  ASSERT_EQ(cudaGraphAddNode(&fill, graph_, nullptr, nullptr, 0, &p), cudaSuccess);
  const int numbers[4] = {1, 2, 3, 4};
  ASSERT_EQ(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph_, &fill, 1, symbol, numbers + 1, 3 * sizeof(int),
                                           sizeof(int), cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNodeFromSymbol(&from_symbol, graph_, &to_symbol, 1, value_, symbol,
                                             sizeof(symbol), 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  const cudaGraphNode_t kernel_node = kernel(graph_, (void*)add_symbol, from_symbol, x_ + 1);
  p = {};
  p.type = cudaGraphNodeTypeMemcpy;
  p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(x_ + 8, 32, 32, 1);
  p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(x_, 32, 32, 1);
  p.memcpy.copyParams.extent = make_cudaExtent(32, 1, 1);
  p.memcpy.copyParams.kind = cudaMemcpyDefault;
  ASSERT_EQ(cudaGraphAddNode(&copy, graph_, &kernel_node, nullptr, 1, &p), cudaSuccess);
  int called = 0;
  p = {};
  p.type = cudaGraphNodeTypeHost;
  p.host.fn = [](void* n) { ++*static_cast<int*>(n); };
  p.host.userData = &called;
  ASSERT_EQ(cudaGraphAddNode(&host, graph_, &copy, nullptr, 1, &p), cudaSuccess);
  cudaGraphExec_t exec = instantiated();
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(value_[3], 4);
  EXPECT_EQ(x_[8], 5);
  EXPECT_EQ(x_[9], 5) << "the first element of the symbol stays 0";

  p = {};
  p.type = cudaGraphNodeTypeMemset;
  p.memset.dst = x_;
  p.memset.value = 70;
  p.memset.elementSize = 4;
  p.memset.width = 8;
  p.memset.height = 1;
  ASSERT_EQ(cudaGraphExecNodeSetParams(exec, fill, &p), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(x_[8], 70);
  cudaGraphNode_t bad = nullptr;
  cudaGraphExecUpdateResult outcome = cudaGraphExecUpdateError;
  ASSERT_EQ(cudaGraphExecUpdate(exec, graph_, &bad, &outcome), cudaSuccess) << "CUDA 11's signature";
  EXPECT_EQ(outcome, cudaGraphExecUpdateSuccess);
  EXPECT_EQ(added(exec, 0), 5) << "as the graph has it";
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(GraphConditions, WhatIsRefused) {
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_), cudaSuccess);
  cudaGraphNode_t node;
  const auto refused = [&](cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type,
                           unsigned int size) {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = type;
    p.conditional.size = size;
    return cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &p);
  };
  EXPECT_EQ(refused(handle + 1000, cudaGraphCondTypeIf, 1), cudaErrorInvalidValue);
  EXPECT_EQ(refused(handle, cudaGraphCondTypeIf, 3), cudaErrorInvalidValue);
  EXPECT_EQ(refused(handle, cudaGraphCondTypeWhile, 2), cudaErrorInvalidValue);
  EXPECT_EQ(refused(handle, cudaGraphCondTypeSwitch, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, nullptr), cudaErrorInvalidValue);
  size_t nodes = 9;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 0u) << "a refused node is not left behind";
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, nullptr, 0), cudaErrorIllegalState);
  cudaGetLastError();
}

TEST_F(GraphConditions, AHostNodeInABodyIsReported) {
  cudaGraphConditionalHandle handle;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault), cudaSuccess);
  const cudaGraph_t body = conditional(graph_, handle, cudaGraphCondTypeIf, 1, nullptr)[0];
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeHost;
  p.host.fn = [](void*) {};
  cudaGraphNode_t node;
  ASSERT_EQ(cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &p), cudaSuccess);
  const cudaGraphExec_t exec = instantiated();
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_NE(cudaStreamSynchronize(stream_), cudaSuccess);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("a body of a conditional node holds a node that may not be there"), std::string::npos)
      << text;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  for (int** q : {&x_, &value_}) ASSERT_EQ(cudaMallocManaged(q, 32 * sizeof(int)), cudaSuccess);
  simt::forget_reports();
}

}  // namespace graph_conditions_test
