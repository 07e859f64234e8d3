// SPDX-License-Identifier: MIT
//
// Nodes that are made by hand: what each does is checked when it is given.

#include "api/graphs.h"

#include "simt/kernel_pointers.h"

namespace simt {
namespace {

bool has_type(cudaGraphNode_t node, cudaGraphNodeType type) {
  return is_node(node) && node->type == type;
}

}  // namespace

cudaError_t set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams* p) {
  if (!p) return cudaErrorInvalidValue;
  const KernelPointer* const kernel = kernel_behind(p->func);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  if (p->extra) return cudaErrorNotSupported;
  LaunchResult outcome;
  begin_building();
  push_config(p->gridDim, p->blockDim, p->sharedMemBytes);
  kernel->call(p->func, p->kernelParams);
  auto work = end_building();
  if (const cudaError_t error = outcome.get()) return error;
  node.work = std::move(work);
  node.kernel = *p;
  node.kernel.kernelParams = nullptr;  // copied; where they were is the caller's
  return cudaSuccess;
}
cudaError_t set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms* p) {
  if (!p) return cudaErrorInvalidValue;
  Area to{}, from{};
  if (const cudaError_t error = read_copy(*p, &to, &from)) return error;
  WorkPtr work;
  if (const cudaError_t error = make_copy("cudaGraphAddMemcpyNode", to, from, p->kind, &work)) return error;
  node.work = std::move(work);
  node.copy = *p;
  return cudaSuccess;
}
cudaError_t set_copy(CUgraphNode_st& node, void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = {};
  p.dstPtr = make_cudaPitchedPtr(to, count, count, 1);
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), count, count, 1);
  p.extent = make_cudaExtent(count, 1, 1);
  p.kind = kind;
  return set_copy(node, &p);
}
cudaError_t set_fill(CUgraphNode_st& node, const cudaMemsetParams* p) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return cudaErrorInvalidValue;
  const size_t width = p->width * p->elementSize;
  const Area area{p->dst, p->height > 1 ? p->pitch : width, width, p->height};
  WorkPtr work;
  if (const cudaError_t error = make_fill("cudaGraphAddMemsetNode", area, p->value, p->elementSize, &work))
    return error;
  node.work = std::move(work);
  node.fill = *p;
  return cudaSuccess;
}
cudaError_t set_host(CUgraphNode_st& node, const cudaHostNodeParams* p) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  node.work = host_function_work(p->fn, p->userData);
  node.host = *p;
  return cudaSuccess;
}

}  // namespace simt

using simt::has_type;
using simt::result;

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaKernelNodeParams* p) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeKernel,
                   [&](CUgraphNode_st& n) { return simt::set_kernel(n, p); });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  if (!p || !has_type(node, cudaGraphNodeTypeKernel)) return result(cudaErrorInvalidValue);
  *p = node->kernel;
  return result(cudaSuccess);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  if (!has_type(node, cudaGraphNodeTypeKernel)) return result(cudaErrorInvalidValue);
  return result(simt::set_kernel(*node, p));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemcpy3DParms* p) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                   [&](CUgraphNode_st& n) { return simt::set_copy(n, p); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t after_count, void* to, const void* from, size_t count,
                                     cudaMemcpyKind kind) {
  return simt::add(node, graph, after, after_count, cudaGraphNodeTypeMemcpy,
                   [&](CUgraphNode_st& n) { return simt::set_copy(n, to, from, count, kind); });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  if (!p || !has_type(node, cudaGraphNodeTypeMemcpy)) return result(cudaErrorInvalidValue);
  *p = node->copy;
  return result(cudaSuccess);
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  if (!has_type(node, cudaGraphNodeTypeMemcpy)) return result(cudaErrorInvalidValue);
  return result(simt::set_copy(*node, p));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t count,
                                           cudaMemcpyKind kind) {
  if (!has_type(node, cudaGraphNodeTypeMemcpy)) return result(cudaErrorInvalidValue);
  return result(simt::set_copy(*node, to, from, count, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemsetParams* p) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeMemset,
                   [&](CUgraphNode_st& n) { return simt::set_fill(n, p); });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  if (!p || !has_type(node, cudaGraphNodeTypeMemset)) return result(cudaErrorInvalidValue);
  *p = node->fill;
  return result(cudaSuccess);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  if (!has_type(node, cudaGraphNodeTypeMemset)) return result(cudaErrorInvalidValue);
  return result(simt::set_fill(*node, p));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 size_t count, const cudaHostNodeParams* p) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeHost,
                   [&](CUgraphNode_st& n) { return simt::set_host(n, p); });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  if (!p || !has_type(node, cudaGraphNodeTypeHost)) return result(cudaErrorInvalidValue);
  *p = node->host;
  return result(cudaSuccess);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  if (!has_type(node, cudaGraphNodeTypeHost)) return result(cudaErrorInvalidValue);
  return result(simt::set_host(*node, p));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  if (!simt::is_graph(child)) return result(cudaErrorInvalidValue);
  return simt::add(node, graph, after, count, cudaGraphNodeTypeGraph, [&](CUgraphNode_st& n) {
    n.children = {simt::copy_of(*child)};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  if (!child || !has_type(node, cudaGraphNodeTypeGraph)) return result(cudaErrorInvalidValue);
  *child = node->children[0].get();
  return result(cudaSuccess);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeEmpty,
                   [](CUgraphNode_st&) { return cudaSuccess; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count, cudaEvent_t event) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeEventRecord, [&](CUgraphNode_st& n) {
    n.event = event;
    return simt::is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) {
  return simt::add(node, graph, after, count, cudaGraphNodeTypeWaitEvent, [&](CUgraphNode_st& n) {
    n.event = event;
    return simt::is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!event || !has_type(node, cudaGraphNodeTypeEventRecord)) return result(cudaErrorInvalidValue);
  *event = node->event;
  return result(cudaSuccess);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  if (!event || !has_type(node, cudaGraphNodeTypeWaitEvent)) return result(cudaErrorInvalidValue);
  *event = node->event;
  return result(cudaSuccess);
}

}  // extern "C"
