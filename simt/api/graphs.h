// SPDX-License-Identifier: MIT
//
// A graph: nodes with what each does and after which others. Captures add to one; an executable graph is a
// copy of one.
#pragma once

#include <memory>
#include <vector>

#include "api/memory.h"

struct CUgraph_st;

namespace simt {
class GraphMemory;
struct Condition;
}  // namespace simt

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  CUgraph_st* graph = nullptr;
  std::vector<CUgraphNode_st*> before;
  simt::WorkPtr work;  // null: only an order
  bool enabled = true;
  const CUgraphNode_st* origin = nullptr;  // in a copy: which node this one copies
  cudaKernelNodeParams kernel = {};
  cudaMemcpy3DParms copy = {};
  cudaMemsetParams fill = {};
  cudaHostNodeParams host = {};
  cudaEvent_t event = nullptr;
  std::shared_ptr<simt::GraphMemory> memory;  // of an allocation
  void* freed = nullptr;                      // by a node that frees
  simt::Condition* condition = nullptr;       // of a conditional node
  cudaGraphConditionalNodeType conditional = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<CUgraph_st>> children;  // a child graph, a conditional node's bodies
  std::vector<cudaGraph_t> bodies;                    // the latter, as handles
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<std::shared_ptr<simt::Condition>> conditions;
};

namespace simt {

bool is_graph(cudaGraph_t graph);
bool is_node(const CUgraphNode_st* node);
void keep_graph(std::unique_ptr<CUgraph_st> graph);  // from now on a handle names it
CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type,
                         const std::vector<CUgraphNode_st*>& before);
std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph);
// Each after those that it waits for; empty: a cycle.
std::vector<CUgraphNode_st*> sorted(const CUgraph_st& graph);

// Take new parameters into a node: of a graph, or of an executable one.
cudaError_t set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams* parameters);
cudaError_t set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms* parameters);
cudaError_t set_copy(CUgraphNode_st& node, void* to, const void* from, size_t count, cudaMemcpyKind kind);
cudaError_t set_fill(CUgraphNode_st& node, const cudaMemsetParams* parameters);
cudaError_t set_host(CUgraphNode_st& node, const cudaHostNodeParams* parameters);
// The executable graph's copy of a node; null if there is none of this type.
CUgraphNode_st* twin_of(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type);

// Adds a node whose parameters `set` takes; no node is left behind if it refuses them.
template <class Set>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                cudaGraphNodeType type, Set set) {
  if (!node || !is_graph(graph) || (count && !after)) return result(cudaErrorInvalidValue);
  std::vector<CUgraphNode_st*> before;
  for (size_t i = 0; i < count; ++i) {
    if (!is_node(after[i]) || after[i]->graph != graph) return result(cudaErrorInvalidValue);
    before.push_back(after[i]);
  }
  CUgraphNode_st* const added = add_node(*graph, type, before);
  if (const cudaError_t error = set(*added)) {
    cudaGraphDestroyNode(added);
    return result(error);
  }
  *node = added;
  return result(cudaSuccess);
}

// ---- graph_memory.cpp: memory that a graph allocates. Its addresses are its own from the node's making on;
// it is there from the allocation in a launch to a free in this graph, in another one or outside ----
class GraphMemory {
 public:
  static std::shared_ptr<GraphMemory> make(size_t bytes);  // null: no addresses left
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* const pointer;
  const size_t bytes;

 private:
  GraphMemory(void* p, size_t n) : pointer(p), bytes(n) {}
};
WorkPtr graph_allocation(const char* call, std::shared_ptr<GraphMemory> memory);
WorkPtr graph_free(const char* call, const Allocation& memory);
// Before a launch: what its allocations left behind, for cudaGraphInstantiateFlagAutoFreeOnLaunch.
WorkPtr free_left_over(const CUgraph_st& graph);

// ---- graph_conditions.cpp ----
WorkPtr conditional_work(const CUgraphNode_st& node);
WorkPtr reset_conditions(const CUgraph_st& graph);  // at a launch; null: there are none
cudaError_t set_conditional(CUgraphNode_st& node, cudaConditionalNodeParams* parameters);

// ---- capture.cpp: the stream's end while it is captured ----
struct CaptureSession {
  CUgraph_st* graph = nullptr;  // named by a handle from the beginning
  bool own_graph = true;        // false: cudaStreamBeginCaptureToGraph()
  size_t nodes_before = 0;      // in that graph
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;  // that take part
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  unsigned long long id = 0;
  bool invalid = false;
};
struct Capture {
  std::shared_ptr<CaptureSession> session;
  std::vector<CUgraphNode_st*> last;
};
// What an event recorded in a captured stream stands for.
struct CapturedPoint {
  std::shared_ptr<CaptureSession> session;
  std::vector<CUgraphNode_st*> last;
};
cudaError_t capture_wait(CUstream_st& stream, const CapturedPoint& point);
void leave_capture(CUstream_st& stream);  // it is destroyed; its nodes stay
CUgraphNode_st* capture_node(CUstream_st& stream, cudaGraphNodeType type);

// ---- events.cpp ----
bool is_event(cudaEvent_t event);
OperationPtr last_record(cudaEvent_t event);
OperationPtr issue_record(CUstream_st& stream, cudaEvent_t event, const std::vector<OperationPtr>& after);

}  // namespace simt
