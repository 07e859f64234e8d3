// SPDX-License-Identifier: MIT
//
// cudaGraphAddNode() and its kind: one function for nodes of all types.

#include "api/graphs.h"

namespace simt {
namespace {

cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& p) {
  return {p.func, p.gridDim, p.blockDim, p.sharedMemBytes, p.kernelParams, p.extra};
}
cudaMemsetParams plain(const cudaMemsetParamsV2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}

// Takes parameters of the types that can be changed.
cudaError_t set_any(CUgraphNode_st& node, const cudaGraphNodeParams& p) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = plain(p.kernel);
      return set_kernel(node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy:
      return set_copy(node, &p.memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams fill = plain(p.memset);
      return set_fill(node, &fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host = {p.host.fn, p.host.userData};
      return set_host(node, &host);
    }
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* p) {
  if (!p) return result(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, after, count, p->graph.graph);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, after, count, p->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, after, count, p->eventWait.event);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, after, count, p->free.dptr);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams alloc = {};
      alloc.poolProps = p->alloc.poolProps;
      alloc.bytesize = p->alloc.bytesize;
      const cudaError_t error = cudaGraphAddMemAllocNode(node, graph, after, count, &alloc);
      p->alloc.dptr = alloc.dptr;
      return error;
    }
    case cudaGraphNodeTypeConditional:
      return simt::add(node, graph, after, count, p->type,
                       [&](CUgraphNode_st& n) { return simt::set_conditional(n, &p->conditional); });
    default:
      return simt::add(node, graph, after, count, p->type,
                       [&](CUgraphNode_st& n) { return simt::set_any(n, *p); });
  }
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  if (!p || !simt::is_node(node) || node->type != p->type) return result(cudaErrorInvalidValue);
  return result(simt::set_any(*node, *p));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  if (!p) return result(cudaErrorInvalidValue);
  CUgraphNode_st* const twin = simt::twin_of(exec, node, p->type);
  return result(twin ? simt::set_any(*twin, *p) : cudaErrorInvalidValue);
}

}  // extern "C"
