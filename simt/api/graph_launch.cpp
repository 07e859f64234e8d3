// SPDX-License-Identifier: MIT
//
// Executable graphs. A launch puts each node into a stream that no handle names, with what it waits for, so
// nodes that nothing orders run in any order, as operations of several streams do.

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "api/graphs.h"
#include "runtime/operations.h"

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;  // a copy, whose nodes know their originals
  unsigned long long flags = 0;
  std::vector<CUstream_st*> streams;
  simt::OperationPtr end;  // of the last launch: one launch follows the other
};

namespace simt {
namespace {

std::mutex execs_lock;
std::unordered_map<CUgraphExec_st*, std::unique_ptr<CUgraphExec_st>>& execs() {
  static auto* const map = new std::unordered_map<CUgraphExec_st*, std::unique_ptr<CUgraphExec_st>>;
  return *map;
}
CUgraphExec_st* find_exec(cudaGraphExec_t handle) {
  const std::lock_guard<std::mutex> guard(execs_lock);
  return execs().count(handle) ? handle : nullptr;
}

bool has_cycle(const CUgraph_st& graph) {
  if (!graph.nodes.empty() && sorted(graph).empty()) return true;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return std::any_of(node->children.begin(), node->children.end(),
                       [](const auto& child) { return has_cycle(*child); });
  });
}

// One launch: where each node went.
class Launcher {
 public:
  explicit Launcher(CUgraphExec_st& exec) : exec_(exec) {}

  // Issues the graph's nodes behind `start`; gives the operations that nothing in it waits for.
  std::vector<OperationPtr> issue_graph(const CUgraph_st& graph, const std::vector<OperationPtr>& start) {
    std::unordered_map<const CUgraphNode_st*, OperationPtr> done;
    std::unordered_map<const CUgraphNode_st*, bool> followed;
    for (const CUgraphNode_st* node : sorted(graph)) {
      std::vector<OperationPtr> after;
      CUstream_st* stream = nullptr;
      for (const CUgraphNode_st* before : node->before) {
        after.push_back(done[before]);
        if (!followed[before] && !stream) stream = done[before]->stream;
        followed[before] = true;
      }
      if (node->before.empty()) after = start;
      if (!stream) stream = next_stream();
      done[node] = issue_node(*node, *stream, after);
    }
    std::vector<OperationPtr> ends;
    for (const auto& [node, operation] : done)
      if (!followed[node]) ends.push_back(operation);
    return ends.empty() ? start : ends;
  }

 private:
  CUstream_st* next_stream() {
    if (used_ == exec_.streams.size()) exec_.streams.push_back(create_hidden_stream());
    return exec_.streams[used_++];
  }
  OperationPtr issue_node(const CUgraphNode_st& node, CUstream_st& stream, std::vector<OperationPtr> after) {
    if (!node.enabled) return issue(stream, nullptr, after);
    switch (node.type) {
      case cudaGraphNodeTypeGraph:
        return issue(stream, nullptr, issue_graph(*node.children[0], {issue(stream, nullptr, after)}));
      case cudaGraphNodeTypeConditional:
        return issue(stream, conditional_work(node), after);
      case cudaGraphNodeTypeEventRecord:
        return issue_record(stream, node.event, after);
      case cudaGraphNodeTypeWaitEvent:
        if (OperationPtr recorded = last_record(node.event)) after.push_back(std::move(recorded));
        return issue(stream, nullptr, after);
      default:
        return issue(stream, node.work, after);
    }
  }

  CUgraphExec_st& exec_;
  size_t used_ = 0;
};

template <class Set>
cudaError_t set_twin(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraphNodeType type, Set set) {
  CUgraphNode_st* const twin = twin_of(handle, node, type);
  return result(twin ? set(*twin) : cudaErrorInvalidValue);
}

// Takes the new graph's work into the old one's nodes, where both have the same shape.
cudaGraphExecUpdateResult update(CUgraph_st& old, const CUgraph_st& fresh, CUgraphNode_st** bad) {
  if (old.nodes.size() != fresh.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  std::unordered_map<const CUgraphNode_st*, size_t> places;
  for (size_t i = 0; i < old.nodes.size(); ++i) places[old.nodes[i].get()] = places[fresh.nodes[i].get()] = i;
  const auto edges = [&](const CUgraphNode_st& node) {
    std::vector<size_t> list;
    for (const CUgraphNode_st* before : node.before) list.push_back(places[before]);
    std::sort(list.begin(), list.end());
    return list;
  };
  for (size_t i = 0; i < old.nodes.size(); ++i) {
    *bad = fresh.nodes[i].get();
    if (old.nodes[i]->type != fresh.nodes[i]->type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    const bool same = old.nodes[i]->condition == fresh.nodes[i]->condition &&
                      old.nodes[i]->memory == fresh.nodes[i]->memory &&
                      old.nodes[i]->children.size() == fresh.nodes[i]->children.size();
    if (!same) return cudaGraphExecUpdateErrorParametersChanged;
    if (edges(*old.nodes[i]) != edges(*fresh.nodes[i])) return cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (size_t i = 0; i < old.nodes.size(); ++i) {
    CUgraphNode_st& to = *old.nodes[i];
    const CUgraphNode_st& from = *fresh.nodes[i];
    for (size_t c = 0; c < to.children.size(); ++c) {
      const cudaGraphExecUpdateResult inner = update(*to.children[c], *from.children[c], bad);
      if (inner != cudaGraphExecUpdateSuccess) return inner;
    }
    to.work = from.work;
    to.event = from.event;
    to.kernel = from.kernel;
    to.copy = from.copy;
    to.fill = from.fill;
    to.host = from.host;
    to.origin = &from;
  }
  *bad = nullptr;
  return cudaGraphExecUpdateSuccess;
}

}  // namespace

CUgraphNode_st* twin_of(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraphNodeType type) {
  const CUgraphExec_st* const exec = find_exec(handle);
  if (!exec) return nullptr;
  for (const auto& candidate : exec->graph->nodes)
    if (candidate->origin == node && candidate->type == type) return candidate.get();
  return nullptr;
}

}  // namespace simt

using simt::find_exec;
using simt::result;
using simt::set_twin;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  const unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                   cudaGraphInstantiateFlagUseNodePriority;
  if (!exec || !simt::is_graph(graph)) return result(cudaErrorInvalidValue);
  if (flags & ~known) return result(cudaErrorNotSupported);
  if (simt::has_cycle(*graph)) return result(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphExec_st>();
  made->graph = simt::copy_of(*graph);
  made->flags = flags;
  *exec = made.get();
  const std::lock_guard<std::mutex> guard(simt::execs_lock);
  simt::execs()[*exec] = std::move(made);
  return result(cudaSuccess);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  if (!flags || !find_exec(exec)) return result(cudaErrorInvalidValue);
  *flags = exec->flags;
  return result(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  std::unique_ptr<CUgraphExec_st> gone;
  {
    const std::lock_guard<std::mutex> guard(simt::execs_lock);
    const auto found = simt::execs().find(exec);
    if (found == simt::execs().end()) return result(cudaErrorInvalidValue);
    gone = std::move(found->second);
    simt::execs().erase(found);
  }
  for (CUstream_st* stream : gone->streams) simt::destroy_hidden_stream(stream);
  CUgraph_st* const graph = gone->graph.get();
  simt::keep_graph(std::move(gone->graph));
  return cudaGraphDestroy(graph);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (!find_exec(exec)) return result(cudaErrorInvalidValue);
  CUstream_st* const stream = simt::find_stream(handle);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (simt::in_operation()) return result(cudaErrorNotPermitted);
  if (simt::refused_while_capturing(stream)) return result(cudaErrorStreamCaptureUnsupported);
  std::vector<simt::OperationPtr> after;
  if (exec->end) after.push_back(exec->end);
  simt::OperationPtr start = simt::issue(*stream, simt::reset_conditions(*exec->graph), after);
  if (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    start = simt::issue(*stream, simt::free_left_over(*exec->graph));
  exec->end = simt::issue(*stream, nullptr, simt::Launcher(*exec).issue_graph(*exec->graph, {start}));
  return result(cudaSuccess);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return result(find_exec(exec) && simt::is_stream(stream) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (!find_exec(exec) || !simt::is_graph(graph)) return result(cudaErrorInvalidValue);
  CUgraphNode_st* bad = nullptr;
  const cudaGraphExecUpdateResult outcome = simt::update(*exec->graph, *graph, &bad);
  if (info) *info = {outcome, bad, nullptr};
  return result(outcome == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return set_twin(exec, node, cudaGraphNodeTypeKernel,
                  [&](CUgraphNode_st& n) { return simt::set_kernel(n, p); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return set_twin(exec, node, cudaGraphNodeTypeMemcpy,
                  [&](CUgraphNode_st& n) { return simt::set_copy(n, p); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t count, cudaMemcpyKind kind) {
  return set_twin(exec, node, cudaGraphNodeTypeMemcpy,
                  [&](CUgraphNode_st& n) { return simt::set_copy(n, to, from, count, kind); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return set_twin(exec, node, cudaGraphNodeTypeMemset,
                  [&](CUgraphNode_st& n) { return simt::set_fill(n, p); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return set_twin(exec, node, cudaGraphNodeTypeHost, [&](CUgraphNode_st& n) { return simt::set_host(n, p); });
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled) {
  if (!simt::is_node(node)) return result(cudaErrorInvalidValue);
  return set_twin(exec, node, node->type, [&](CUgraphNode_st& n) {
    n.enabled = enabled != 0;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled) {
  if (!enabled || !simt::is_node(node)) return result(cudaErrorInvalidValue);
  return set_twin(exec, node, node->type, [&](CUgraphNode_st& n) {
    *enabled = n.enabled;
    return cudaSuccess;
  });
}

}  // extern "C"
