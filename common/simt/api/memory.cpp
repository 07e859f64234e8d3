// SPDX-License-Identifier: MIT
//
// Memory: allocation, copies, fills. Device, pinned and managed memory all live in the runtime's arena; any
// other address is the host's own. Each range that a call names is checked against the allocation it starts
// in and against the kind of copy, before a byte moves.

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "api/internal.h"

namespace simt {
namespace {

// ---- what an address is ----

// Memory outside the arena that the program told us of: cudaHostRegister() and addresses of symbols.
struct Region {
  size_t size;
  cudaMemoryType type;
  unsigned int flags;
};
std::mutex regions_lock;
std::map<const char*, Region>& regions() {
  static auto* const map = new std::map<const char*, Region>;
  return *map;
}

struct Range {
  const char* base;
  size_t size;
  cudaMemoryType type;
  const char* what;  // for reports: "a cudaMalloc allocation"
};

const char* kind_text(MemoryKind kind) {
  return kind == MemoryKind::device    ? "device memory"
         : kind == MemoryKind::managed ? "managed memory"
                                       : "pinned host memory";
}

// The range that holds `pointer`; an unregistered host range has no known end.
Range find_range(const void* pointer) {
  const char* const p = static_cast<const char*>(pointer);
  Allocation found;
  if (find_allocation(pointer, &found)) {
    const cudaMemoryType type = found.kind == MemoryKind::device    ? cudaMemoryTypeDevice
                                : found.kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                                    : cudaMemoryTypeHost;
    return {found.base, found.bytes, type, kind_text(found.kind)};
  }
  const std::lock_guard<std::mutex> guard(regions_lock);
  auto next = regions().upper_bound(p);
  if (next != regions().begin()) {
    const auto& [base, region] = *--next;
    if (p < base + region.size) {
      return {base, region.size, region.type,
              region.type == cudaMemoryTypeDevice ? "a device variable" : "registered host memory"};
    }
  }
  return {p, 0, cudaMemoryTypeUnregistered, "host memory"};
}

bool on_device(cudaMemoryType type) {
  return type != cudaMemoryTypeUnregistered;
}
bool on_host(cudaMemoryType type) {
  return type != cudaMemoryTypeDevice;
}

// ---- checks ----

// The part of a strided area that is touched: rows of `width` bytes, `pitch` apart.
struct Area {
  const void* pointer;
  size_t pitch, width, height;
  size_t extent() const { return height == 0 || width == 0 ? 0 : pitch * (height - 1) + width; }
};

// Reports where `area` leaves the allocation that it starts in.
bool inside(const char* call, const char* role, const Area& area, const Range& range) {
  if (range.type == cudaMemoryTypeUnregistered) {
    if (!is_global(area.pointer)) return true;  // the host's own memory: nobody here knows its end
    report_host("simt-memcpy", "%s: %s is in device memory that is not allocated now (freed, or never was)",
                call, role);
    return false;
  }
  const size_t offset = static_cast<size_t>(static_cast<const char*>(area.pointer) - range.base);
  const size_t left = range.size - offset;
  if (area.extent() <= left) return true;
  char rows[120] = "";
  if (area.height > 1) {
    std::snprintf(rows, sizeof(rows), " (%zu rows of %zu, %zu apart)", area.height, area.width, area.pitch);
  }
  report_host("simt-memcpy", "%s: %s needs %zu bytes%s, but %zu are left of the %zu of %s", call, role,
              area.extent(), rows, left, range.size, range.what);
  return false;
}

const char* kind_name(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return "cudaMemcpyHostToHost";
    case cudaMemcpyHostToDevice:
      return "cudaMemcpyHostToDevice";
    case cudaMemcpyDeviceToHost:
      return "cudaMemcpyDeviceToHost";
    case cudaMemcpyDeviceToDevice:
      return "cudaMemcpyDeviceToDevice";
    case cudaMemcpyDefault:
      return "cudaMemcpyDefault";
  }
  return "?";
}

bool fits_kind(const char* call, cudaMemcpyKind kind, const Range& to, const Range& from) {
  if (kind == cudaMemcpyDefault) return true;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_fits = from_device ? on_device(from.type) : on_host(from.type);
  const bool to_fits = to_device ? on_device(to.type) : on_host(to.type);
  if (from_fits && to_fits) return true;
  report_host("simt-memcpy", "%s: %s does not fit: the copy is from %s to %s", call, kind_name(kind),
              from.what, to.what);
  return false;
}

// ---- copies and fills ----

cudaError_t copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
  if (to.width == 0 || to.height == 0) return cudaSuccess;
  if (to.height > 1 && (to.pitch < to.width || from.pitch < from.width))
    return result(cudaErrorInvalidPitchValue);
  if (!to.pointer || !from.pointer) return result(cudaErrorInvalidValue);
  const Range to_range = find_range(to.pointer), from_range = find_range(from.pointer);
  if (!fits_kind(call, kind, to_range, from_range) || !inside(call, "the destination", to, to_range) ||
      !inside(call, "the source", from, from_range)) {
    return result(cudaErrorInvalidValue);
  }
  for (size_t row = 0; row < to.height; ++row) {
    // Overlapping ranges are undefined on a GPU; memmove() at least does not crash.
    std::memmove(static_cast<char*>(const_cast<void*>(to.pointer)) + row * to.pitch,
                 static_cast<const char*>(from.pointer) + row * from.pitch, to.width);
  }
  return cudaSuccess;
}

cudaError_t copy(const char* call, void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return copy(call, Area{to, count, count, 1}, Area{from, count, count, 1}, kind);
}

cudaError_t fill(const char* call, const Area& area, int value) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (area.width == 0 || area.height == 0) return cudaSuccess;
  if (area.height > 1 && area.pitch < area.width) return result(cudaErrorInvalidPitchValue);
  if (!area.pointer) return result(cudaErrorInvalidValue);
  const Range range = find_range(area.pointer);
  if (!on_device(range.type)) {
    report_host("simt-memcpy", "%s: %p is host memory", call, area.pointer);
    return result(cudaErrorInvalidValue);
  }
  if (!inside(call, "the range", area, range)) return result(cudaErrorInvalidValue);
  for (size_t row = 0; row < area.height; ++row) {
    std::memset(static_cast<char*>(const_cast<void*>(area.pointer)) + row * area.pitch, value, area.width);
  }
  return cudaSuccess;
}

// ---- allocation ----

cudaError_t allocate_memory(void** pointer, size_t size, MemoryKind kind) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return kind == MemoryKind::managed ? result(cudaErrorInvalidValue) : cudaSuccess;
  *pointer = allocate(size, kind);
  return result(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}

// Frees what was allocated as `host` memory or not; null is nothing to free.
cudaError_t free_memory(const char* call, void* pointer, bool host) {
  if (!pointer) return result(cudaSuccess);
  Allocation found;
  if (!find_allocation(pointer, &found)) {
    report_host("simt-free", "%s: %p is not allocated (freed before, or not CUDA's)", call, pointer);
    return result(cudaErrorInvalidValue);
  }
  if (found.base != pointer) {
    report_host("simt-free", "%s: %p lies %zu bytes inside an allocation of %zu", call, pointer,
                static_cast<size_t>(static_cast<char*>(pointer) - found.base), found.bytes);
    return result(cudaErrorInvalidValue);
  }
  if ((found.kind == MemoryKind::pinned) != host) {
    report_host("simt-free", "%s: this is %s memory, which %s frees", call, host ? "device" : "pinned host",
                host ? "cudaFree" : "cudaFreeHost");
    return result(cudaErrorInvalidValue);
  }
  release(pointer);
  return result(cudaSuccess);
}

cudaError_t wrong_stream(cudaStream_t stream) {
  return is_stream(stream) ? cudaSuccess : result(cudaErrorInvalidResourceHandle);
}

}  // namespace

cudaError_t copy_to_symbol(void* symbol, size_t size, const void* from, size_t count, size_t offset,
                           cudaMemcpyKind kind) {
  note_symbol(symbol, size);
  return copy("cudaMemcpyToSymbol", static_cast<char*>(symbol) + offset, from, count, kind);
}
cudaError_t copy_from_symbol(void* to, const void* symbol, size_t size, size_t count, size_t offset,
                             cudaMemcpyKind kind) {
  note_symbol(symbol, size);
  return copy("cudaMemcpyFromSymbol", to, static_cast<const char*>(symbol) + offset, count, kind);
}

void note_symbol(const void* symbol, size_t size) {
  const std::lock_guard<std::mutex> guard(regions_lock);
  regions()[static_cast<const char*>(symbol)] = Region{size, cudaMemoryTypeDevice, 0};
}

}  // namespace simt

// Memory pools have settings and counters of their own; the memory comes from the one arena.
struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, unsigned long long> attributes;
};

namespace simt {
namespace {
CUmemPoolHandle_st* default_pool() {
  static auto* const pool = new CUmemPoolHandle_st;
  return pool;
}
CUmemPoolHandle_st* current_pool = nullptr;  // null: the default one
}  // namespace
}  // namespace simt

using simt::Area;
using simt::MemoryKind;
using simt::result;

extern "C" {

// ---- allocation ----

cudaError_t cudaMalloc(void** pointer, size_t size) {
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
  if (!pitch) return result(cudaErrorInvalidValue);
  const size_t alignment = 512;  // as on current GPUs
  *pitch = (width + alignment - 1) / alignment * alignment;
  if (height != 0 && *pitch > static_cast<size_t>(-1) / height) return result(cudaErrorMemoryAllocation);
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return result(cudaErrorInvalidValue);
  *pointer = cudaPitchedPtr{nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}
cudaError_t cudaFree(void* pointer) {
  return simt::free_memory("cudaFree", pointer, false);
}
cudaError_t cudaFreeHost(void* pointer) {
  return simt::free_memory("cudaFreeHost", pointer, true);
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMalloc(pointer, size);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return simt::free_memory("cudaFreeAsync", pointer, false);
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (!pool) return result(cudaErrorInvalidValue);
  return cudaMallocAsync(pointer, size, stream);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *pool = simt::default_pool();
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  const cudaError_t error = cudaDeviceGetDefaultMemPool(pool, device);
  if (!error && simt::current_pool) *pool = simt::current_pool;
  return error;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return result(cudaErrorInvalidDevice);
  if (!pool) return result(cudaErrorInvalidValue);
  simt::current_pool = pool;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
    return result(cudaErrorInvalidValue);
  *pool = new CUmemPoolHandle_st;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (!pool || pool == simt::default_pool()) return result(cudaErrorInvalidValue);
  if (simt::current_pool == pool) simt::current_pool = nullptr;
  delete pool;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return result(pool ? cudaSuccess : cudaErrorInvalidValue);
}
// Reuse policies are ints, thresholds and counters 64-bit; nothing is cached here, so counters read 0.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return result(cudaErrorInvalidValue);
  if (attribute < cudaMemPoolReuseFollowEventDependencies || attribute > cudaMemPoolAttrUsedMemHigh) {
    return result(cudaErrorInvalidValue);
  }
  const bool is_int = attribute <= cudaMemPoolReuseAllowInternalDependencies;
  pool->attributes[attribute] = is_int ? static_cast<unsigned long long>(*static_cast<int*>(value))
                                       : *static_cast<unsigned long long*>(value);
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return result(cudaErrorInvalidValue);
  if (attribute < cudaMemPoolReuseFollowEventDependencies || attribute > cudaMemPoolAttrUsedMemHigh) {
    return result(cudaErrorInvalidValue);
  }
  const bool is_int = attribute <= cudaMemPoolReuseAllowInternalDependencies;
  const auto found = pool->attributes.find(attribute);
  const unsigned long long stored = found != pool->attributes.end() ? found->second : is_int;
  if (is_int) {
    *static_cast<int*>(value) = static_cast<int>(stored);
  } else {
    *static_cast<unsigned long long*>(value) = stored;
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t count) {
  return result(pool && (descriptions || count == 0) ? cudaSuccess : cudaErrorInvalidValue);
}

// ---- host memory ----

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  const unsigned int known =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (!pointer || size == 0 || (flags & ~known)) return result(cudaErrorInvalidValue);
  const simt::Range range = simt::find_range(pointer);
  if (range.type != cudaMemoryTypeUnregistered) {
    return result(range.type == cudaMemoryTypeHost ? cudaErrorHostMemoryAlreadyRegistered
                                                   : cudaErrorInvalidValue);
  }
  const std::lock_guard<std::mutex> guard(simt::regions_lock);
  simt::regions()[static_cast<char*>(pointer)] = simt::Region{size, cudaMemoryTypeHost, flags};
  return result(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* pointer) {
  const std::lock_guard<std::mutex> guard(simt::regions_lock);
  const auto found = simt::regions().find(static_cast<char*>(pointer));
  if (found == simt::regions().end() || found->second.type != cudaMemoryTypeHost) {
    return result(cudaErrorHostMemoryNotRegistered);
  }
  simt::regions().erase(found);
  return result(cudaSuccess);
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

// ---- questions ----

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
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  const simt::Range range = simt::find_range(pointer);
  const bool fits = range.type == cudaMemoryTypeManaged &&
                    count <= range.size - static_cast<size_t>(static_cast<const char*>(pointer) - range.base);
  if (!fits || flags || count == 0) return result(cudaErrorInvalidValue);
  if (location.type == cudaMemLocationTypeDevice && location.id != 0) return result(cudaErrorInvalidDevice);
  return result(cudaSuccess);
}
cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
    return result(cudaErrorInvalidValue);
  return cudaMemPrefetchAsync(pointer, count, location, 0, nullptr);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address || !symbol) return result(cudaErrorInvalidValue);
  *address = const_cast<void*>(symbol);
  return result(cudaSuccess);
}

// ---- copies ----

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return simt::copy("cudaMemcpy", to, from, count, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return simt::copy("cudaMemcpyAsync", to, from, count, kind);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t count) {
  if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
  return simt::copy("cudaMemcpyPeer", to, from, count, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                                cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemcpyPeer(to, to_device, from, from_device, count);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return simt::copy("cudaMemcpy2D", Area{to, to_pitch, width, height}, Area{from, from_pitch, width, height},
                    kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
// Between pitched pointers only: there are no arrays. Each slice is a copy of rows.
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  if (!p) return result(cudaErrorInvalidValue);
  if (p->srcArray || p->dstArray) return result(cudaErrorNotSupported);
  const auto slice = [](const cudaPitchedPtr& area, const cudaPos& at, size_t z) {
    return static_cast<char*>(area.ptr) + ((at.z + z) * area.ysize + at.y) * area.pitch + at.x;
  };
  if (!p->srcPtr.ptr || !p->dstPtr.ptr) return result(cudaErrorInvalidValue);
  for (size_t z = 0; z < p->extent.depth; ++z) {
    const cudaError_t error = simt::copy(
        "cudaMemcpy3D",
        Area{slice(p->dstPtr, p->dstPos, z), p->dstPtr.pitch, p->extent.width, p->extent.height},
        Area{slice(p->srcPtr, p->srcPos, z), p->srcPtr.pitch, p->extent.width, p->extent.height}, p->kind);
    if (error) return error;
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemcpy3D(p);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_to_symbol(const_cast<void*>(symbol), offset + count, from, count, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_from_symbol(to, symbol, offset + count, count, offset, kind);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemcpyToSymbol(symbol, from, count, offset, kind);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemcpyFromSymbol(to, symbol, count, offset, kind);
}

// ---- fills ----

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return simt::fill("cudaMemset", Area{pointer, count, count, 1}, value);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return simt::fill("cudaMemsetAsync", Area{pointer, count, count, 1}, value);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return simt::fill("cudaMemset2D", Area{pointer, pitch, width, height}, value);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemset2D(pointer, pitch, value, width, height);
}
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  for (size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(pointer.ptr) + z * pointer.ysize * pointer.pitch;
    const cudaError_t error =
        simt::fill("cudaMemset3D", Area{slice, pointer.pitch, extent.width, extent.height}, value);
    if (error) return error;
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  if (const cudaError_t error = simt::wrong_stream(stream)) return error;
  return cudaMemset3D(pointer, value, extent);
}

}  // extern "C"
