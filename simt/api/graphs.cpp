// SPDX-License-Identifier: MIT
//
// Graphs: made, copied, asked about, drawn.

#include "api/graphs.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace simt {
namespace {

std::mutex graphs_lock;
std::unordered_map<const CUgraph_st*, std::unique_ptr<CUgraph_st>>& graphs() {
  static auto* const map = new std::unordered_map<const CUgraph_st*, std::unique_ptr<CUgraph_st>>;
  return *map;
}
std::unordered_set<const CUgraphNode_st*>& nodes() {  // of all graphs, children and copies too
  static auto* const set = new std::unordered_set<const CUgraphNode_st*>;
  return *set;
}

void forget_nodes(const CUgraph_st& graph) {
  for (const auto& node : graph.nodes) {
    nodes().erase(node.get());
    for (const auto& child : node->children) forget_nodes(*child);
  }
}

// Gives a list as CUDA does: its length, or as many as there is room for.
cudaError_t give(const std::vector<CUgraphNode_st*>& list, cudaGraphNode_t* out, size_t* count) {
  if (!count) return result(cudaErrorInvalidValue);
  if (out) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < list.size() ? list[i] : nullptr;
    *count = std::min(*count, list.size());
  } else {
    *count = list.size();
  }
  return result(cudaSuccess);
}

bool waits_for(const CUgraphNode_st& node, const CUgraphNode_st* other) {
  return std::find(node.before.begin(), node.before.end(), other) != node.before.end();
}

const char* type_name(cudaGraphNodeType type) {
  static constexpr const char* kNames[] = {"kernel", "memcpy", "memset",     "host",       "graph",
                                           "empty",  "wait",   "record",     "semaphore",  "semaphore",
                                           "alloc",  "free",   "(reserved)", "conditional"};
  return type >= 0 && type < cudaGraphNodeTypeCount ? kNames[type] : "?";
}

}  // namespace

bool is_graph(cudaGraph_t graph) {
  const std::lock_guard<std::mutex> guard(graphs_lock);
  if (graphs().count(graph)) return true;
  for (const CUgraphNode_st* node : nodes())
    for (const auto& child : node->children)
      if (child.get() == graph) return true;
  return false;
}
bool is_node(const CUgraphNode_st* node) {
  const std::lock_guard<std::mutex> guard(graphs_lock);
  return nodes().count(node) != 0;
}
void keep_graph(std::unique_ptr<CUgraph_st> graph) {
  const std::lock_guard<std::mutex> guard(graphs_lock);
  CUgraph_st* const handle = graph.get();
  graphs()[handle] = std::move(graph);
}

CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type,
                         const std::vector<CUgraphNode_st*>& before) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->type = type;
  node->graph = &graph;
  node->before = before;
  CUgraphNode_st* const added = node.get();
  graph.nodes.push_back(std::move(node));
  const std::lock_guard<std::mutex> guard(graphs_lock);
  nodes().insert(added);
  return added;
}

std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph) {
  auto copy = std::make_unique<CUgraph_st>();
  copy->conditions = graph.conditions;
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> twins;
  for (const auto& node : graph.nodes) {
    CUgraphNode_st* const twin = add_node(*copy, node->type, {});
    twin->work = node->work;
    twin->enabled = node->enabled;
    twin->origin = node.get();
    twin->kernel = node->kernel;
    twin->copy = node->copy;
    twin->fill = node->fill;
    twin->host = node->host;
    twin->event = node->event;
    twin->memory = node->memory;
    twin->freed = node->freed;
    twin->condition = node->condition;
    twin->conditional = node->conditional;
    for (const auto& child : node->children) {
      twin->children.push_back(copy_of(*child));
      twin->bodies.push_back(twin->children.back().get());
    }
    twins[node.get()] = twin;
  }
  for (const auto& node : graph.nodes)
    for (const CUgraphNode_st* before : node->before) twins[node.get()]->before.push_back(twins[before]);
  return copy;
}

std::vector<CUgraphNode_st*> sorted(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> order;
  std::unordered_set<const CUgraphNode_st*> placed;
  for (bool progress = true; progress && order.size() < graph.nodes.size();) {
    progress = false;
    for (const auto& node : graph.nodes) {
      const bool ready =
          !placed.count(node.get()) && std::all_of(node->before.begin(), node->before.end(),
                                                   [&](const CUgraphNode_st* b) { return placed.count(b); });
      if (!ready) continue;
      order.push_back(node.get());
      placed.insert(node.get());
      progress = true;
    }
  }
  if (order.size() < graph.nodes.size()) order.clear();
  return order;
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  if (!graph || flags) return result(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraph_st>();
  *graph = made.get();
  simt::keep_graph(std::move(made));
  return result(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard<std::mutex> guard(simt::graphs_lock);
  const auto found = simt::graphs().find(graph);
  if (found == simt::graphs().end()) return result(cudaErrorInvalidValue);
  simt::forget_nodes(*graph);
  simt::graphs().erase(found);
  return result(cudaSuccess);
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  if (!clone || !simt::is_graph(original)) return result(cudaErrorInvalidValue);
  auto copy = simt::copy_of(*original);
  *clone = copy.get();
  simt::keep_graph(std::move(copy));
  return result(cudaSuccess);
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  if (!node || !simt::is_graph(clone)) return result(cudaErrorInvalidValue);
  for (const auto& candidate : clone->nodes) {
    if (candidate->origin != original) continue;
    *node = candidate.get();
    return result(cudaSuccess);
  }
  return result(cudaErrorInvalidValue);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (!type || !simt::is_node(node)) return result(cudaErrorInvalidValue);
  *type = node->type;
  return result(cudaSuccess);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!simt::is_graph(graph)) return result(cudaErrorInvalidValue);
  std::vector<CUgraphNode_st*> list;
  for (const auto& node : graph->nodes) list.push_back(node.get());
  return simt::give(list, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!simt::is_graph(graph)) return result(cudaErrorInvalidValue);
  std::vector<CUgraphNode_st*> list;
  for (const auto& node : graph->nodes)
    if (node->before.empty()) list.push_back(node.get());
  return simt::give(list, nodes, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  if (!simt::is_graph(graph) || !count || !from != !to) return result(cudaErrorInvalidValue);
  std::vector<CUgraphNode_st*> first, second;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* before : node->before) {
      first.push_back(before);
      second.push_back(node.get());
    }
  }
  size_t room = *count;
  if (data) std::fill_n(data, std::min(room, first.size()), cudaGraphEdgeData{});
  if (const cudaError_t error = simt::give(first, from, count)) return error;
  return simt::give(second, to, &room);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  if (!simt::is_node(node) || !count) return result(cudaErrorInvalidValue);
  if (data) std::fill_n(data, std::min(*count, node->before.size()), cudaGraphEdgeData{});
  return simt::give(node->before, nodes, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  if (!simt::is_node(node) || !count) return result(cudaErrorInvalidValue);
  std::vector<CUgraphNode_st*> list;
  for (const auto& other : node->graph->nodes)
    if (simt::waits_for(*other, node)) list.push_back(other.get());
  if (data) std::fill_n(data, std::min(*count, list.size()), cudaGraphEdgeData{});
  return simt::give(list, nodes, count);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
  if (!simt::is_graph(graph) || (count && (!from || !to))) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    const bool fits = simt::is_node(from[i]) && simt::is_node(to[i]) && from[i]->graph == graph &&
                      to[i]->graph == graph && from[i] != to[i] && !simt::waits_for(*to[i], from[i]);
    if (!fits) return result(cudaErrorInvalidValue);
    to[i]->before.push_back(from[i]);
  }
  return result(cudaSuccess);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*, size_t count) {
  if (!simt::is_graph(graph) || (count && (!from || !to))) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (!simt::is_node(to[i]) || !simt::waits_for(*to[i], from[i])) return result(cudaErrorInvalidValue);
    auto& before = to[i]->before;
    before.erase(std::find(before.begin(), before.end(), from[i]));
  }
  return result(cudaSuccess);
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (!simt::is_node(node)) return result(cudaErrorInvalidValue);
  CUgraph_st& graph = *node->graph;
  const std::lock_guard<std::mutex> guard(simt::graphs_lock);
  for (const auto& other : graph.nodes)
    other->before.erase(std::remove(other->before.begin(), other->before.end(), node), other->before.end());
  simt::nodes().erase(node);
  for (const auto& child : node->children) simt::forget_nodes(*child);
  const auto at = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                               [&](const auto& candidate) { return candidate.get() == node; });
  graph.nodes.erase(at);
  return result(cudaSuccess);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  if (!simt::is_graph(graph) || !path) return result(cudaErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (!file) return result(cudaErrorOperatingSystem);
  std::unordered_map<const CUgraphNode_st*, size_t> numbers;
  std::fprintf(file, "digraph dot {\n");
  for (const auto& node : graph->nodes) {
    const size_t number = numbers.size();
    numbers[node.get()] = number;
    std::fprintf(file, "  n%zu [label=\"%zu %s%s%s\"];\n", number, number, simt::type_name(node->type),
                 node->work ? "\\n" : "", node->work ? node->work->call : "");
  }
  for (const auto& node : graph->nodes)
    for (const CUgraphNode_st* before : node->before)
      std::fprintf(file, "  n%zu -> n%zu;\n", numbers[before], numbers[node.get()]);
  std::fprintf(file, "}\n");
  std::fclose(file);
  return result(cudaSuccess);
}

}  // extern "C"
