// SPDX-License-Identifier: MIT
//
// Conditional nodes: bodies that run or repeat as a value says, which kernels set. A body runs as one
// operation of the stream, its nodes one after the other.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include "api/graphs.h"
#include "runtime/failures.h"
#include "runtime/options.h"

namespace simt {

struct Condition {
  std::atomic<unsigned int> value{0};
  unsigned int first = 0;  // at each launch, where `assigned`
  bool assigned = false;
};

namespace {

std::mutex conditions_lock;
unsigned long long handles = 0;
// A handle stays valid: kernels of copies of the graph have it as an argument.
std::unordered_map<unsigned long long, std::shared_ptr<Condition>>& conditions() {
  static auto* const map = new std::unordered_map<unsigned long long, std::shared_ptr<Condition>>;
  return *map;
}
std::shared_ptr<Condition> find_condition(unsigned long long handle) {
  const std::lock_guard<std::mutex> guard(conditions_lock);
  const auto found = conditions().find(handle);
  return found == conditions().end() ? nullptr : found->second;
}

// Whether all of the body can run inside one operation.
bool may_be_in_body(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeConditional:
      return true;
    default:
      return false;
  }
}

void run_body(const CUgraph_st& graph, std::uint64_t number);

class ConditionalWork : public Work {
 public:
  explicit ConditionalWork(const CUgraphNode_st& node)
      : Work("conditional node"),
        type_(node.conditional),
        condition_(*node.condition),
        bodies_(node.children) {}

  void run(std::uint64_t number) override {
    const unsigned int value = condition_.value;
    switch (type_) {
      case cudaGraphCondTypeIf:
        if (value != 0) {
          run_body(*bodies_[0], number);
        } else if (bodies_.size() > 1) {
          run_body(*bodies_[1], number);
        }
        break;
      case cudaGraphCondTypeWhile:
        repeat(number);
        break;
      case cudaGraphCondTypeSwitch:
        if (value < bodies_.size()) run_body(*bodies_[value], number);
        break;
    }
  }

 private:
  void repeat(std::uint64_t number) {
    const auto begin = std::chrono::steady_clock::now();
    while (condition_.value != 0 && sticky_error() == cudaSuccess) {
      run_body(*bodies_[0], number);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (passed.count() < options().timeout_seconds) continue;
      report_host("simt-hang",
                  "a graph's while node repeats for more than %g s\n"
                  "No kernel of its body calls cudaGraphSetConditional(handle, 0).",
                  options().timeout_seconds);
      set_sticky(cudaErrorLaunchTimeout);
    }
  }

  const cudaGraphConditionalNodeType type_;
  Condition& condition_;  // lives as long as the process: see conditions()
  const std::vector<std::shared_ptr<CUgraph_st>> bodies_;
};

void run_body(const CUgraph_st& graph, std::uint64_t number) {
  for (const CUgraphNode_st* node : sorted(graph)) {
    if (!node->enabled) continue;
    if (sticky_error() != cudaSuccess) return;
    if (!may_be_in_body(node->type)) {
      report_host("simt-launch",
                  "cudaGraphLaunch: a body of a conditional node holds a node that may not be there\n"
                  "Kernels, copies, fills, child graphs and conditional nodes may.");
      return set_sticky(cudaErrorNotSupported);
    }
    if (node->type == cudaGraphNodeTypeGraph) {
      run_body(*node->children[0], number);
    } else if (node->type == cudaGraphNodeTypeConditional) {
      ConditionalWork(*node).run(number);
    } else if (node->work) {
      node->work->run(number);
    }
  }
}

void collect(const CUgraph_st& graph, std::vector<Condition*>* into) {
  for (const auto& condition : graph.conditions)
    if (condition->assigned) into->push_back(condition.get());
  for (const auto& node : graph.nodes)
    for (const auto& child : node->children) collect(*child, into);
}

class ResetWork : public Work {
 public:
  explicit ResetWork(std::vector<Condition*> conditions)
      : Work("cudaGraphLaunch"), conditions_(std::move(conditions)) {}
  void run(std::uint64_t) override {
    for (Condition* condition : conditions_) condition->value = condition->first;
  }

 private:
  const std::vector<Condition*> conditions_;
};

}  // namespace

WorkPtr conditional_work(const CUgraphNode_st& node) {
  return std::make_shared<ConditionalWork>(node);
}

WorkPtr reset_conditions(const CUgraph_st& graph) {
  std::vector<Condition*> list;
  collect(graph, &list);
  return list.empty() ? nullptr : std::make_shared<ResetWork>(std::move(list));
}

cudaError_t set_conditional(CUgraphNode_st& node, cudaConditionalNodeParams* p) {
  const std::shared_ptr<Condition> condition = find_condition(p->handle);
  const unsigned int most = p->type == cudaGraphCondTypeIf ? 2 : p->type == cudaGraphCondTypeWhile ? 1 : ~0u;
  if (!condition || p->type > cudaGraphCondTypeSwitch || p->size == 0 || p->size > most)
    return cudaErrorInvalidValue;
  node.condition = condition.get();
  node.conditional = p->type;
  for (unsigned int i = 0; i < p->size; ++i) {
    node.children.push_back(std::make_shared<CUgraph_st>());
    node.bodies.push_back(node.children.back().get());
  }
  p->phGraph_out = node.bodies.data();
  return cudaSuccess;
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int value, unsigned int flags) {
  const unsigned int known = cudaGraphCondAssignDefault;
  if (!handle || !simt::is_graph(graph) || (flags & ~known)) return result(cudaErrorInvalidValue);
  auto condition = std::make_shared<simt::Condition>();
  condition->first = value;
  condition->assigned = flags & cudaGraphCondAssignDefault;
  graph->conditions.push_back(condition);
  const std::lock_guard<std::mutex> guard(simt::conditions_lock);
  *handle = ++simt::handles;
  simt::conditions()[*handle] = std::move(condition);
  return result(cudaSuccess);
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  if (!simt::in_kernel()) {
    simt::report_host("simt-launch", "cudaGraphSetConditional() outside a kernel");
    return;
  }
  const std::shared_ptr<simt::Condition> condition = simt::find_condition(handle);
  if (!condition)
    simt::fail("simt-launch", "cudaGraphSetConditional: %llu is no handle of a condition", handle);
  condition->value = value;
}

}  // extern "C"
