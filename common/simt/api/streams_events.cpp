// SPDX-License-Identifier: MIT
//
// Streams and events. All work is done when the call that issues it returns, in any stream: a stream is an
// identity with flags, an event a point in time. Handles are looked up before use, so that a destroyed or
// invented one is an error and a queue can later hang behind each.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "api/internal.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;  // as on a GPU: lower numbers go first

std::mutex handles_lock;

}  // namespace

struct CUstream_st {
  unsigned int flags = 0;
  int priority = 0;
  unsigned long long id = 0;
};

struct CUevent_st {
  unsigned int flags = 0;
  bool recorded = false;
  Clock::time_point time;
};

namespace simt {
namespace {

// The live objects behind one kind of handle.
template <class Object>
class Handles {
 public:
  Object* create() {
    auto object = std::make_unique<Object>();
    Object* const handle = object.get();
    objects_[handle] = std::move(object);
    return handle;
  }
  Object* find(const Object* handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  bool destroy(const Object* handle) { return objects_.erase(handle) != 0; }

 private:
  std::map<const Object*, std::unique_ptr<Object>> objects_;
};

Handles<CUstream_st>& streams() {
  static auto* const handles =
      new Handles<CUstream_st>;  // outlives every static destructor that uses a stream
  return *handles;
}
Handles<CUevent_st>& events() {
  static auto* const handles = new Handles<CUevent_st>;
  return *handles;
}

// Null for a handle that is no stream. The three default streams are one.
CUstream_st* find_stream(cudaStream_t stream) {
  static CUstream_st default_stream;
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return &default_stream;
  return streams().find(stream);
}

}  // namespace

bool is_stream(cudaStream_t stream) {
  const std::lock_guard<std::mutex> guard(handles_lock);
  return find_stream(stream) != nullptr;
}

}  // namespace simt

using simt::result;

// Runs `body` with `object` found under the lock, or gives the error for a handle that does not exist.
#define SIMT_WITH(object, finder, handle)                \
  const std::lock_guard<std::mutex> guard(handles_lock); \
  auto* const object = finder(handle);                   \
  if (!object) return result(cudaErrorInvalidResourceHandle)

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  if (!stream || (flags & ~static_cast<unsigned int>(cudaStreamNonBlocking)))
    return result(cudaErrorInvalidValue);
  static unsigned long long last_id = 2;  // below are the default streams
  const std::lock_guard<std::mutex> guard(handles_lock);
  CUstream_st* const created = simt::streams().create();
  created->flags = flags;
  created->priority = priority > kLeastPriority      ? kLeastPriority
                      : priority < kGreatestPriority ? kGreatestPriority
                                                     : priority;
  created->id = ++last_id;
  *stream = created;
  return result(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, kLeastPriority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, kLeastPriority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard<std::mutex> guard(handles_lock);
  return result(simt::streams().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = kLeastPriority;
  if (greatest) *greatest = kGreatestPriority;
  return result(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (!priority) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *priority = found->priority;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  if (!flags) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *flags = found->flags;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (!id) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *id = found->id;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (!device) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *device = 0;
  return result(cudaSuccess);
}
// Attributes only tune caches and waiting, so they are accepted and forgotten.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID, cudaStreamAttrValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *value = cudaStreamAttrValue{};
  return result(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  if (flags & ~static_cast<unsigned int>(cudaEventWaitExternal)) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  return result(simt::events().find(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return result(simt::is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (!status) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, simt::find_stream, stream);
  *status = cudaStreamCaptureStatusNone;
  return result(cudaSuccess);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned int) {
  return cudaStreamSynchronize(stream);
}

// The work before it is done, so a host function may run at once. No lock is held: it may do what it likes.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  if (!function) return result(cudaErrorInvalidValue);
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  const cudaError_t before = result(cudaSuccess);
  if (before == cudaSuccess) function(user_data);
  return before;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data,
                                  unsigned int flags) {
  if (!callback || flags) return result(cudaErrorInvalidValue);
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  const cudaError_t before = result(cudaSuccess);
  callback(stream, before, user_data);  // unlike a host function it hears of errors
  return before;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  const unsigned int known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!event || (flags & ~known)) return result(cudaErrorInvalidValue);
  if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
    return result(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> guard(handles_lock);
  *event = simt::events().create();
  (*event)->flags = flags;
  return result(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard<std::mutex> guard(handles_lock);
  return result(simt::events().destroy(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags & ~static_cast<unsigned int>(cudaEventRecordExternal)) return result(cudaErrorInvalidValue);
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  SIMT_WITH(found, simt::events().find, event);
  found->time = Clock::now();
  found->recorded = true;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SIMT_WITH(found, simt::events().find, event);
  return result(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return result(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> guard(handles_lock);
  const CUevent_st* const first = simt::events().find(start);
  const CUevent_st* const last = simt::events().find(end);
  if (!first || !last || !first->recorded || !last->recorded) return result(cudaErrorInvalidResourceHandle);
  if ((first->flags | last->flags) & cudaEventDisableTiming) return result(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return result(cudaSuccess);
}

}  // extern "C"
