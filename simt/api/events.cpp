// SPDX-License-Identifier: MIT
//
// Events: the operation that was last recorded into each, and when it ran.

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "api/graphs.h"
#include "runtime/operations.h"

namespace {
using Clock = std::chrono::steady_clock;
}

struct CUevent_st {
  unsigned int flags = 0;
  simt::OperationPtr operation;  // null: never recorded
  std::shared_ptr<Clock::time_point> time;
  simt::CapturedPoint captured;  // in place of the operation, where the stream was captured
};

namespace simt {
namespace {

class RecordWork : public Work {
 public:
  explicit RecordWork(std::shared_ptr<Clock::time_point> time)
      : Work("cudaEventRecord"), time_(std::move(time)) {}
  void run(std::uint64_t) override { *time_ = Clock::now(); }
  bool early() const override { return true; }  // the host may measure what it does itself

 private:
  std::shared_ptr<Clock::time_point> time_;
};

std::mutex events_lock;
std::unordered_map<cudaEvent_t, std::unique_ptr<CUevent_st>>& events() {
  static auto* const map = new std::unordered_map<cudaEvent_t, std::unique_ptr<CUevent_st>>;
  return *map;
}

// A copy of the event's state; false: no such event.
bool look_up(cudaEvent_t handle, CUevent_st* event) {
  const std::lock_guard<std::mutex> guard(events_lock);
  const auto found = events().find(handle);
  if (found == events().end()) return false;
  *event = *found->second;
  return true;
}

// Notes what the event stands for now.
bool keep(cudaEvent_t handle, const CUevent_st& state) {
  const std::lock_guard<std::mutex> guard(events_lock);
  const auto found = events().find(handle);
  if (found == events().end()) return false;
  found->second->operation = state.operation;
  found->second->time = state.time;
  found->second->captured = state.captured;
  return true;
}

}  // namespace

bool is_event(cudaEvent_t event) {
  CUevent_st found;
  return look_up(event, &found);
}
OperationPtr last_record(cudaEvent_t event) {
  CUevent_st found;
  return look_up(event, &found) ? found.operation : nullptr;
}
OperationPtr issue_record(CUstream_st& stream, cudaEvent_t event, const std::vector<OperationPtr>& after) {
  CUevent_st state;
  state.time = std::make_shared<Clock::time_point>();
  state.operation = issue(stream, std::make_shared<RecordWork>(state.time), after);
  keep(event, state);
  return state.operation;
}

}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  const unsigned int known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!event || (flags & ~known)) return result(cudaErrorInvalidValue);
  if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
    return result(cudaErrorInvalidValue);
  auto created = std::make_unique<CUevent_st>();
  created->flags = flags;
  *event = created.get();
  const std::lock_guard<std::mutex> guard(simt::events_lock);
  simt::events()[*event] = std::move(created);
  return result(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard<std::mutex> guard(simt::events_lock);
  return result(simt::events().erase(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags & ~static_cast<unsigned int>(cudaEventRecordExternal)) return result(cudaErrorInvalidValue);
  CUevent_st found;
  CUstream_st* const recording = simt::find_stream(stream);
  if (!recording || !simt::look_up(event, &found)) return result(cudaErrorInvalidResourceHandle);
  CUevent_st state;
  if (recording->capture) {
    if (flags & cudaEventRecordExternal) {
      CUgraphNode_st* const node = simt::capture_node(*recording, cudaGraphNodeTypeEventRecord);
      if (node) node->event = event;
      return result(node ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
    }
    state.captured = {recording->capture->session, recording->capture->last};
  } else {
    state.time = std::make_shared<Clock::time_point>();
    if (const cudaError_t error =
            simt::submitted(stream, std::make_shared<simt::RecordWork>(state.time), &state.operation)) {
      return error;
    }
  }
  return result(simt::keep(event, state) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  if (flags & ~static_cast<unsigned int>(cudaEventWaitExternal)) return result(cudaErrorInvalidValue);
  CUstream_st* const waiting = simt::find_stream(stream);
  CUevent_st found;
  if (!waiting || !simt::look_up(event, &found)) return result(cudaErrorInvalidResourceHandle);
  if (simt::in_operation()) return result(cudaErrorNotPermitted);
  if (waiting->capture && (flags & cudaEventWaitExternal)) {
    CUgraphNode_st* const node = simt::capture_node(*waiting, cudaGraphNodeTypeWaitEvent);
    if (node) node->event = event;
    return result(node ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
  }
  if (waiting->capture || found.captured.session) return result(simt::capture_wait(*waiting, found.captured));
  if (found.operation) simt::issue(*waiting, nullptr, {found.operation});
  return result(cudaSuccess);
}

// An event that was never recorded counts as done.
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CUevent_st found;
  if (!simt::look_up(event, &found)) return result(cudaErrorInvalidResourceHandle);
  if (found.captured.session) return result(cudaErrorCapturedEvent);
  return simt::waited(!found.operation || simt::finish(found.operation));
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  CUevent_st found;
  if (!simt::look_up(event, &found)) return result(cudaErrorInvalidResourceHandle);
  if (found.captured.session) return result(cudaErrorCapturedEvent);
  return result(!found.operation || simt::query(found.operation) ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return result(cudaErrorInvalidValue);
  CUevent_st first, last;
  if (!simt::look_up(start, &first) || !simt::look_up(end, &last) || !first.operation || !last.operation)
    return result(cudaErrorInvalidResourceHandle);
  if ((first.flags | last.flags) & cudaEventDisableTiming) return result(cudaErrorInvalidResourceHandle);
  if (!simt::query(last.operation) || !simt::query(first.operation)) return result(cudaErrorNotReady);
  if (const cudaError_t before = result(cudaSuccess)) return before;
  *milliseconds = std::chrono::duration<float, std::milli>(*last.time - *first.time).count();
  return result(cudaSuccess);
}

}  // extern "C"
