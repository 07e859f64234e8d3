// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "common/check.h"

namespace days {

// What was queued into a stream while it was captured, ready to be launched as often as one likes: a CUDA graph. Between capture
// and destruction the memory that it names must stay where it is.
class Graph {
 public:
  // `queue` queues it. Whatever it throws, the stream is as before.
  template <class Queue>
  Graph(cudaStream_t stream, const Queue& queue) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      queue();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph));
      static_cast<void>(cudaGetLastError());
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    cudaError_t made = count(graph);
    if (made == cudaSuccess) made = cudaGraphInstantiate(&ready_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    CUDA_CHECK(made);
  }
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(ready_)); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(ready_, stream)); }
  // How many kernels it has.
  int kernels() const { return kernels_; }

 private:
  cudaError_t count(cudaGraph_t graph) {
    size_t n = 0;
    cudaError_t error = cudaGraphGetNodes(graph, nullptr, &n);
    std::vector<cudaGraphNode_t> nodes(n);
    if (error == cudaSuccess) error = cudaGraphGetNodes(graph, nodes.data(), &n);
    for (size_t i = 0; i < n && error == cudaSuccess; ++i) {
      cudaGraphNodeType type{};
      error = cudaGraphNodeGetType(nodes[i], &type);
      kernels_ += type == cudaGraphNodeTypeKernel ? 1 : 0;
    }
    return error;
  }

  int kernels_ = 0;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace days
