// SPDX-License-Identifier: MIT
//
// Allocation, host memory that the device sees, and questions about addresses.

#include "api/memory.h"
#include "runtime/operations.h"
#include "runtime/variables.h"

namespace simt {

cudaError_t allocate_memory(void** pointer, size_t size, MemoryKind kind) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return kind == MemoryKind::managed ? result(cudaErrorInvalidValue) : cudaSuccess;
  *pointer = allocate(size, kind);
  if (!*pointer && finish_everything()) *pointer = allocate(size, kind);  // after what frees in streams
  note_allocated();
  return result(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}

bool may_free(const char* call, void* pointer, bool host) {
  Allocation found;
  if (!find_allocation(pointer, &found)) {
    report_host("simt-free", "%s: %p is not allocated (freed before, or not CUDA's)", call, pointer);
    return false;
  }
  if (found.base != pointer) {
    report_host("simt-free", "%s: %p lies %zu bytes inside an allocation of %zu", call, pointer,
                static_cast<size_t>(static_cast<char*>(pointer) - found.base), found.bytes);
    return false;
  }
  if ((found.kind == MemoryKind::pinned) != host) {
    report_host("simt-free", "%s: this is %s memory, which %s frees", call, host ? "device" : "pinned host",
                host ? "cudaFree" : "cudaFreeHost");
    return false;
  }
  return true;
}

namespace {

// Waits for all streams, as CUDA does; null is nothing to free.
cudaError_t free_memory(const char* call, void* pointer, bool host) {
  if (!pointer) return result(cudaSuccess);
  if (!finish_everything()) return result(cudaErrorNotPermitted);
  Allocation found;
  // After a launch that failed every cudaMalloc fails, too, and the program frees pointers that nobody has set.
  if (sticky_error() != cudaSuccess && !find_allocation(pointer, &found)) return result(cudaSuccess);
  if (!may_free(call, pointer, host)) return result(cudaErrorInvalidValue);
  release(pointer);
  return result(cudaSuccess);
}

// Whether `count` bytes from `pointer` on are managed memory, and the location is one that exists.
cudaError_t check_managed(const void* pointer, size_t count, const cudaMemLocation& location) {
  const Range range = find_range(pointer);
  const bool fits = range.type == cudaMemoryTypeManaged &&
                    count <= range.size - static_cast<size_t>(static_cast<const char*>(pointer) - range.base);
  if (!fits || count == 0) return cudaErrorInvalidValue;
  if (location.type == cudaMemLocationTypeDevice && location.id != 0) return cudaErrorInvalidDevice;
  if (location.type < cudaMemLocationTypeDevice || location.type > cudaMemLocationTypeHostNumaCurrent)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

}  // namespace
}  // namespace simt

using simt::MemoryKind;
using simt::result;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  simt::use_context();
  return simt::allocate_memory(pointer, size, MemoryKind::device);
}
cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return simt::allocate_memory(pointer, size, MemoryKind::pinned);
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  const unsigned int known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (flags & ~known) return result(cudaErrorInvalidValue);
  return simt::allocate_memory(pointer, size, MemoryKind::pinned);
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return result(cudaErrorInvalidValue);
  return simt::allocate_memory(pointer, size, MemoryKind::managed);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pointer || !pitch) return result(cudaErrorInvalidValue);
  const size_t alignment = 512;  // as on current GPUs
  if (width > static_cast<size_t>(-1) - alignment) return result(cudaErrorMemoryAllocation);
  *pitch = (width + alignment - 1) / alignment * alignment;
  if (height != 0 && *pitch > static_cast<size_t>(-1) / height) return result(cudaErrorMemoryAllocation);
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = cudaPitchedPtr{nullptr, 0, extent.width, extent.height};
  if (extent.depth != 0 && extent.height > static_cast<size_t>(-1) / extent.depth)
    return result(cudaErrorMemoryAllocation);
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}
cudaError_t cudaFree(void* pointer) {
  simt::use_context();
  return simt::free_memory("cudaFree", pointer, false);
}
cudaError_t cudaFreeHost(void* pointer) {
  return simt::free_memory("cudaFreeHost", pointer, true);
}

// ---- host memory ----

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  const unsigned int known =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (!pointer || size == 0 || (flags & ~known)) return result(cudaErrorInvalidValue);
  const simt::Range range = simt::find_range(pointer);
  if (range.type != cudaMemoryTypeUnregistered && range.type != cudaMemoryTypeHost)
    return result(cudaErrorInvalidValue);
  const bool registered =
      range.type == cudaMemoryTypeUnregistered && simt::register_host(pointer, size, flags);
  return result(registered ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void* pointer) {
  if (!simt::finish_everything()) return result(cudaErrorNotPermitted);
  return result(simt::unregister_host(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
// Host and device share one address space.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  if (!device || flags) return result(cudaErrorInvalidValue);
  *device = nullptr;
  if (simt::find_range(host).type != cudaMemoryTypeHost) return result(cudaErrorInvalidValue);
  *device = host;
  return result(cudaSuccess);
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  if (!flags || simt::find_range(host).type != cudaMemoryTypeHost) return result(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return result(cudaSuccess);
}

// ---- questions and hints ----

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (free) *free = simt::memory_free();
  if (total) *total = simt::memory_total();
  return result(cudaSuccess);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return result(cudaErrorInvalidValue);
  const simt::Range range = simt::find_range(pointer);
  void* const address = const_cast<void*>(pointer);
  *attributes = cudaPointerAttributes{};
  attributes->type = range.type;
  attributes->device = range.type == cudaMemoryTypeUnregistered ? cudaInvalidDeviceId : 0;
  if (simt::on_device(range.type)) attributes->devicePointer = address;
  if (simt::on_host(range.type)) attributes->hostPointer = address;
  return result(cudaSuccess);
}
// There is one memory: a prefetch only has its place in the stream.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (flags) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::check_managed(pointer, count, location)) return result(error);
  return simt::submitted(stream, nullptr);
}
cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
    return result(cudaErrorInvalidValue);
  return result(simt::check_managed(pointer, count, location));
}
// Advice is not remembered: every attribute is as it was at the start.
cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t count) {
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  if (!data || size == 0 || size % 4 != 0) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::check_managed(pointer, count, device)) return result(error);
  for (size_t i = 0; i < size / sizeof(int); ++i)
    static_cast<int*>(data)[i] = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
  return result(cudaSuccess);
}
cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t count) {
  if (!data || !sizes || !attributes || attribute_count == 0) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < attribute_count; ++i) {
    if (const cudaError_t error = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], pointer, count))
      return error;
  }
  return result(cudaSuccess);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address || !symbol) return result(cudaErrorInvalidValue);
  *address = const_cast<void*>(symbol);
  simt::symbol_address_given(symbol);
  return result(cudaSuccess);
}

}  // extern "C"
