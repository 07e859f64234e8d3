// SPDX-License-Identifier: MIT
//
// Streams: handles, waiting, host functions. The queues behind them are the runtime's.

#include <algorithm>

#include "api/graphs.h"

namespace simt {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;  // as on a GPU: lower numbers go first

// cudaLaunchHostFunc(): not called once a kernel has failed.
class HostFunctionWork : public Work {
 public:
  HostFunctionWork(cudaHostFn_t function, void* data)
      : Work("cudaLaunchHostFunc"), function_(function), data_(data) {}
  void run(std::uint64_t) override { function_(data_); }
  void describe(Described* what) const override { *what = {"host function", call, 0, false}; }

 private:
  cudaHostFn_t function_;
  void* data_;
};

// cudaStreamAddCallback(): hears of errors.
class CallbackWork : public Work {
 public:
  CallbackWork(cudaStream_t stream, cudaStreamCallback_t callback, void* data)
      : Work("cudaStreamAddCallback"), stream_(stream), callback_(callback), data_(data) {}
  void run(std::uint64_t) override { callback_(stream_, cudaSuccess, data_); }
  void skip(cudaError_t error) override { callback_(stream_, error, data_); }

 private:
  cudaStream_t stream_;
  cudaStreamCallback_t callback_;
  void* data_;
};

}  // namespace

bool is_stream(cudaStream_t stream) {
  return find_stream(stream) != nullptr;
}

cudaError_t submitted(cudaStream_t stream, WorkPtr work, OperationPtr* issued) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  return result(submit(stream, std::move(work), issued));
}

WorkPtr host_function_work(cudaHostFn_t function, void* data) {
  return std::make_shared<HostFunctionWork>(function, data);
}

cudaError_t waited(bool may_wait) {
  return result(may_wait ? cudaSuccess : cudaErrorNotPermitted);
}

}  // namespace simt

using simt::find_stream;
using simt::result;

// Runs the rest with `found`, or gives the error for a handle that does not exist.
#define SIMT_WITH(found, handle)                  \
  CUstream_st* const found = find_stream(handle); \
  if (!found) return result(cudaErrorInvalidResourceHandle)

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  if (!stream || (flags & ~static_cast<unsigned int>(cudaStreamNonBlocking)))
    return result(cudaErrorInvalidValue);
  *stream = simt::create_stream(flags, std::clamp(priority, simt::kGreatestPriority, simt::kLeastPriority));
  return result(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, simt::kLeastPriority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, simt::kLeastPriority);
}
// What is in the stream still runs.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (CUstream_st* const found = find_stream(stream)) simt::leave_capture(*found);
  return result(simt::destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = simt::kLeastPriority;
  if (greatest) *greatest = simt::kGreatestPriority;
  return result(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (!priority) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  *priority = found->priority;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  if (!flags) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  *flags = found->flags;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (!id) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  *id = found->id;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (!device) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  *device = 0;
  return result(cudaSuccess);
}
// Attributes only tune caches and waiting, so they are accepted and forgotten.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID, cudaStreamAttrValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  SIMT_WITH(found, stream);
  *value = cudaStreamAttrValue{};
  return result(cudaSuccess);
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  SIMT_WITH(found_to, to);
  SIMT_WITH(found_from, from);
  return result(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SIMT_WITH(found, stream);
  if (simt::refused_while_capturing(found)) return result(cudaErrorStreamCaptureUnsupported);
  return simt::waited(simt::finish_stream(*found));
}
// Asking makes progress: a program that asks again and again gets its answer.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  SIMT_WITH(found, stream);
  if (simt::refused_while_capturing(found)) return result(cudaErrorStreamCaptureUnsupported);
  return result(simt::query_stream(*found) ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned int) {
  return simt::submitted(stream, nullptr);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  if (!function) return result(cudaErrorInvalidValue);
  return simt::submitted(stream, simt::host_function_work(function, user_data));
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data,
                                  unsigned int flags) {
  if (!callback || flags) return result(cudaErrorInvalidValue);
  return simt::submitted(stream, std::make_shared<simt::CallbackWork>(stream, callback, user_data));
}

}  // extern "C"
