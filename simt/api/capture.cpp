// SPDX-License-Identifier: MIT
//
// Capturing streams: what would be queued becomes nodes of a graph, behind the last ones of its stream. An
// event recorded in a captured stream carries these to another stream, which thereby joins.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "api/graphs.h"

namespace simt {
namespace {

std::mutex sessions_lock;
std::vector<std::shared_ptr<CaptureSession>>& sessions() {
  static auto* const list = new std::vector<std::shared_ptr<CaptureSession>>;
  return *list;
}
unsigned long long session_ids = 0;
std::atomic<int> captures{0};  // sessions, so that an ordinary call takes no lock
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

cudaGraphNodeType type_of(const Work* work) {
  if (!work) return cudaGraphNodeTypeEmpty;
  if (dynamic_cast<const KernelWork*>(work)) return cudaGraphNodeTypeKernel;
  const std::string call = work->call;
  if (call.find("Memset") != std::string::npos) return cudaGraphNodeTypeMemset;
  if (call.find("Memcpy") != std::string::npos) return cudaGraphNodeTypeMemcpy;
  if (call == "cudaMallocAsync") return cudaGraphNodeTypeMemAlloc;
  if (call == "cudaFreeAsync") return cudaGraphNodeTypeMemFree;
  return cudaGraphNodeTypeHost;
}

void merge(std::vector<CUgraphNode_st*>* into, const std::vector<CUgraphNode_st*>& more) {
  for (CUgraphNode_st* node : more)
    if (std::find(into->begin(), into->end(), node) == into->end()) into->push_back(node);
}

// All nodes but those that the stream's end comes after: work of other streams that it never joined.
bool joined(const CaptureSession& session, const std::vector<CUgraphNode_st*>& last) {
  std::unordered_set<const CUgraphNode_st*> reached;
  std::vector<const CUgraphNode_st*> open(last.begin(), last.end());
  while (!open.empty()) {
    const CUgraphNode_st* const node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->before.begin(), node->before.end());
  }
  const auto& nodes = session.graph->nodes;
  return std::all_of(
      nodes.begin() + static_cast<std::ptrdiff_t>(std::min(session.nodes_before, nodes.size())), nodes.end(),
      [&](const auto& node) { return reached.count(node.get()) != 0; });
}

void end_session(const std::shared_ptr<CaptureSession>& session) {
  for (CUstream_st* stream : session->streams) stream->capture = nullptr;
  const std::lock_guard<std::mutex> guard(sessions_lock);
  --captures;
  sessions().erase(std::remove(sessions().begin(), sessions().end(), session), sessions().end());
}

}  // namespace

CUgraphNode_st* capture_node(CUstream_st& stream, cudaGraphNodeType type) {
  Capture& capture = *stream.capture;
  if (capture.session->invalid) return nullptr;
  CUgraphNode_st* const node = add_node(*capture.session->graph, type, capture.last);
  capture.last = {node};
  return node;
}

cudaError_t capture_work(CUstream_st& stream, WorkPtr work) {
  CUgraphNode_st* const node = capture_node(stream, type_of(work.get()));
  if (!node) return cudaErrorStreamCaptureInvalidated;
  if (const auto* kernel = dynamic_cast<const KernelWork*>(work.get())) {
    node->kernel.gridDim = kernel->configuration.grid;
    node->kernel.blockDim = kernel->configuration.block;
    node->kernel.sharedMemBytes = static_cast<unsigned int>(kernel->configuration.dynamic_shared);
  }
  node->work = std::move(work);
  return cudaSuccess;
}

cudaError_t capture_wait(CUstream_st& stream, const CapturedPoint& point) {
  if (!stream.capture) {
    if (!point.session) return cudaSuccess;
    stream.capture = std::make_shared<Capture>();
    stream.capture->session = point.session;
    point.session->streams.push_back(&stream);
  } else if (!point.session) {
    stream.capture->session->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  } else if (stream.capture->session != point.session) {
    stream.capture->session->invalid = point.session->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  merge(&stream.capture->last, point.last);
  return cudaSuccess;
}

void leave_capture(CUstream_st& stream) {
  if (!stream.capture) return;
  CaptureSession& session = *stream.capture->session;
  if (session.origin == &stream) {
    session.invalid = true;
    end_session(stream.capture->session);
    return;
  }
  session.streams.erase(std::remove(session.streams.begin(), session.streams.end(), &stream),
                        session.streams.end());
  stream.capture = nullptr;
}

bool refused_while_capturing(const CUstream_st* stream) {
  if (stream) {
    if (!stream->capture) return false;
    stream->capture->session->invalid = true;
    return true;
  }
  const std::lock_guard<std::mutex> guard(sessions_lock);
  bool refused = false;
  for (const auto& session : sessions()) {
    if (session->mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed)
      continue;
    session->invalid = refused = true;
  }
  return refused;
}

bool legacy_refused_while_capturing() {
  if (captures == 0) return false;
  const std::lock_guard<std::mutex> guard(sessions_lock);
  bool refused = false;
  for (const auto& session : sessions()) {
    const bool blocking = std::any_of(session->streams.begin(), session->streams.end(),
                                      [](const CUstream_st* s) { return s->blocking; });
    if (blocking) session->invalid = refused = true;
  }
  return refused;
}

namespace {

// Into a graph that there is, behind some of its nodes, or (null) into a new one.
cudaError_t begin_capture(cudaStream_t handle, CUgraph_st* graph, std::vector<CUgraphNode_st*> after,
                          cudaStreamCaptureMode mode) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return result(cudaErrorInvalidValue);
  CUstream_st* const stream = find_stream(handle);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (stream == find_stream(cudaStreamLegacy)) return result(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return result(cudaErrorIllegalState);
  auto session = std::make_shared<CaptureSession>();
  session->own_graph = graph == nullptr;
  session->graph = graph;
  if (session->own_graph) cudaGraphCreate(&session->graph, 0);
  session->nodes_before = session->graph->nodes.size();
  session->origin = stream;
  session->streams = {stream};
  session->mode = mode;
  stream->capture = std::make_shared<Capture>();
  stream->capture->session = session;
  stream->capture->last = std::move(after);
  const std::lock_guard<std::mutex> guard(sessions_lock);
  session->id = ++session_ids;
  sessions().push_back(session);
  ++captures;
  return result(cudaSuccess);
}

}  // namespace
}  // namespace simt

using simt::find_stream;
using simt::result;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return simt::begin_capture(stream, nullptr, {}, mode);
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                          size_t count, cudaStreamCaptureMode mode) {
  if (!simt::is_graph(graph) || (count && !after)) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i)
    if (!simt::is_node(after[i]) || after[i]->graph != graph) return result(cudaErrorInvalidValue);
  return simt::begin_capture(stream, graph, {after, after + count}, mode);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData*, size_t count, unsigned int flags) {
  CUstream_st* const stream = find_stream(handle);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (!stream->capture) return result(cudaErrorIllegalState);
  if (flags > cudaStreamSetCaptureDependencies || (count && !nodes)) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (!simt::is_node(nodes[i]) || nodes[i]->graph != stream->capture->session->graph)
      return result(cudaErrorInvalidValue);
  }
  if (flags == cudaStreamSetCaptureDependencies) stream->capture->last.clear();
  simt::merge(&stream->capture->last, {nodes, nodes + count});
  return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  CUstream_st* const stream = find_stream(handle);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (graph) *graph = nullptr;
  if (!stream->capture) return result(cudaErrorIllegalState);
  const std::shared_ptr<simt::CaptureSession> session = stream->capture->session;
  if (!graph && session->own_graph) return result(cudaErrorInvalidValue);
  if (session->origin != stream) {
    session->invalid = true;
    return result(cudaErrorStreamCaptureUnmatched);
  }
  const bool complete = simt::joined(*session, stream->capture->last);
  simt::end_session(session);
  if (session->invalid || !complete) {
    if (session->own_graph) cudaGraphDestroy(session->graph);
    return result(session->invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
  }
  if (graph) *graph = session->graph;
  return result(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  if (!status) return result(cudaErrorInvalidValue);
  CUstream_st* const stream = find_stream(handle);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  const auto capture = stream->capture;
  *status = !capture                    ? cudaStreamCaptureStatusNone
            : capture->session->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  if (*status != cudaStreamCaptureStatusActive) return result(cudaSuccess);
  if (id) *id = capture->session->id;
  if (graph) *graph = capture->session->graph;
  if (dependencies) *dependencies = capture->last.data();
  if (edges) *edges = nullptr;
  if (count) *count = capture->last.size();
  return result(cudaSuccess);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
    return result(cudaErrorInvalidValue);
  std::swap(simt::thread_mode, *mode);
  return result(cudaSuccess);
}

}  // extern "C"
