// SPDX-License-Identifier: MIT
//
// Memory that graphs allocate. Each launch brings it anew under the same addresses, and a free takes it away:
// what uses it before or after faults, as with any freed memory.

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "api/graphs.h"
#include "runtime/failures.h"

namespace simt {
namespace {

std::mutex memories_lock;
std::unordered_set<const GraphMemory*>& memories() {
  static auto* const set = new std::unordered_set<const GraphMemory*>;
  return *set;
}

// What cudaDeviceGetGraphMemAttribute() tells. Nothing is given back before cudaDeviceGraphMemTrim().
struct Footprint {
  unsigned long long used_high = 0, reserved = 0, reserved_high = 0;
} footprint;

bool is_there(const GraphMemory& memory) {
  Allocation found;
  return find_allocation(memory.pointer, &found);
}

unsigned long long used_now() {
  unsigned long long used = 0;
  for (const GraphMemory* memory : memories())
    if (is_there(*memory)) used += memory->bytes;
  return used;
}

class AllocationNode : public Work {
 public:
  AllocationNode(const char* call, std::shared_ptr<GraphMemory> memory)
      : Work(call), memory_(std::move(memory)) {
    touched = {line(memory_->pointer, memory_->bytes).touched(true)};
  }
  void run(std::uint64_t) override {
    if (!revive(memory_->pointer)) return refuse();
    const std::lock_guard<std::mutex> guard(memories_lock);
    const unsigned long long used = used_now();
    footprint.used_high = std::max(footprint.used_high, used);
    footprint.reserved = std::max(footprint.reserved, used);
    footprint.reserved_high = std::max(footprint.reserved_high, footprint.reserved);
  }

 private:
  void refuse() const {
    if (is_there(*memory_)) {
      report_host(
          "simt-launch",
          "cudaGraphLaunch: the graph's memory at %p (%zu bytes) is still allocated by its last launch\n"
          "Free it in the graph, with cudaFree() or cudaFreeAsync(), or instantiate with "
          "cudaGraphInstantiateFlagAutoFreeOnLaunch.",
          memory_->pointer, memory_->bytes);
    } else {
      report_host("simt-launch", "cudaGraphLaunch: no %zu bytes of device memory are left for the graph",
                  memory_->bytes);
    }
    set_sticky(cudaErrorIllegalAddress);
  }

  const std::shared_ptr<GraphMemory> memory_;
};

class FreeNode : public Work {
 public:
  FreeNode(const char* call, const Allocation& memory) : Work(call), pointer_(memory.base) {
    touched = {line(memory.base, memory.bytes).touched(true)};
  }
  void run(std::uint64_t) override {
    if (!release(pointer_)) {
      report_host("simt-free",
                  "%s: the graph's memory at %p is not allocated when the stream comes to this call", call,
                  pointer_);
    }
  }

 private:
  void* const pointer_;
};

class LeftOverWork : public Work {
 public:
  explicit LeftOverWork(std::vector<std::shared_ptr<GraphMemory>> memory)
      : Work("cudaGraphLaunch"), memory_(std::move(memory)) {}
  void run(std::uint64_t) override {
    for (const auto& memory : memory_)
      release(memory->pointer);  // false: the graph, or the program, freed it
  }

 private:
  const std::vector<std::shared_ptr<GraphMemory>> memory_;
};

void collect(const CUgraph_st& graph, std::vector<std::shared_ptr<GraphMemory>>* into) {
  for (const auto& node : graph.nodes) {
    if (node->memory) into->push_back(node->memory);
    for (const auto& child : node->children) collect(*child, into);
  }
}

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::make(size_t bytes) {
  void* const pointer = reserve(bytes);
  if (!pointer) return nullptr;
  std::shared_ptr<GraphMemory> made(new GraphMemory(pointer, bytes));
  const std::lock_guard<std::mutex> guard(memories_lock);
  memories().insert(made.get());
  return made;
}

// What a launch has left allocated is the program's to free.
GraphMemory::~GraphMemory() {
  const std::lock_guard<std::mutex> guard(memories_lock);
  memories().erase(this);
  give_up(pointer);
}

WorkPtr graph_allocation(const char* call, std::shared_ptr<GraphMemory> memory) {
  return std::make_shared<AllocationNode>(call, std::move(memory));
}
WorkPtr graph_free(const char* call, const Allocation& memory) {
  return std::make_shared<FreeNode>(call, memory);
}
WorkPtr free_left_over(const CUgraph_st& graph) {
  std::vector<std::shared_ptr<GraphMemory>> memory;
  collect(graph, &memory);
  return std::make_shared<LeftOverWork>(std::move(memory));
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* p) {
  if (!p || p->bytesize == 0) return result(cudaErrorInvalidValue);
  return simt::add(node, graph, after, count, cudaGraphNodeTypeMemAlloc, [&](CUgraphNode_st& n) {
    n.memory = simt::GraphMemory::make(p->bytesize);
    if (!n.memory) return cudaErrorMemoryAllocation;
    p->dptr = n.memory->pointer;
    n.work = simt::graph_allocation("cudaGraphAddMemAllocNode", n.memory);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  if (!p || !simt::is_node(node) || !node->memory) return result(cudaErrorInvalidValue);
  *p = cudaMemAllocNodeParams{};
  p->poolProps.allocType = cudaMemAllocationTypePinned;
  p->poolProps.location = {cudaMemLocationTypeDevice, 0};
  p->bytesize = node->memory->bytes;
  p->dptr = node->memory->pointer;
  return result(cudaSuccess);
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* pointer) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeMemFree, [&](CUgraphNode_st& n) {
    simt::Allocation found;
    if (!simt::find_kept(pointer, &found) || found.base != pointer) return cudaErrorInvalidValue;
    n.freed = pointer;
    n.work = simt::graph_free("cudaGraphAddMemFreeNode", found);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  if (!pointer || !simt::is_node(node) || !node->freed) return result(cudaErrorInvalidValue);
  *static_cast<void**>(pointer) = node->freed;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (device != 0) return result(cudaErrorInvalidDevice);
  if (!value) return result(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> guard(simt::memories_lock);
  auto& bytes = *static_cast<unsigned long long*>(value);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
      bytes = simt::used_now();
      break;
    case cudaGraphMemAttrUsedMemHigh:
      bytes = simt::footprint.used_high;
      break;
    case cudaGraphMemAttrReservedMemCurrent:
      bytes = simt::footprint.reserved;
      break;
    case cudaGraphMemAttrReservedMemHigh:
      bytes = simt::footprint.reserved_high;
      break;
    default:
      return result(cudaErrorInvalidValue);
  }
  return result(cudaSuccess);
}
// A high-water mark can only be set to 0: it starts again at what there is.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (device != 0) return result(cudaErrorInvalidDevice);
  if (!value || *static_cast<unsigned long long*>(value) != 0) return result(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> guard(simt::memories_lock);
  if (attribute == cudaGraphMemAttrUsedMemHigh) {
    simt::footprint.used_high = simt::used_now();
  } else if (attribute == cudaGraphMemAttrReservedMemHigh) {
    simt::footprint.reserved_high = simt::footprint.reserved;
  } else {
    return result(cudaErrorInvalidValue);
  }
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  if (device != 0) return result(cudaErrorInvalidDevice);
  const std::lock_guard<std::mutex> guard(simt::memories_lock);
  simt::footprint.reserved = simt::used_now();
  return result(cudaSuccess);
}

}  // extern "C"
