// SPDX-License-Identifier: MIT
//
// Stream-ordered allocation. The memory is there at the call, from the one arena, but counts as written by
// the allocation's place in its stream, and is gone once the stream comes to the free: another stream that
// does not wait for these touches memory that is not its own.

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "api/graphs.h"
#include "runtime/operations.h"

struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, unsigned long long> attributes;
  unsigned long long used = 0, used_high = 0;
};

namespace simt {
namespace {

std::mutex pools_lock;
CUmemPoolHandle_st* default_pool() {
  static auto* const pool = new CUmemPoolHandle_st;
  return pool;
}
std::unordered_map<CUmemPoolHandle_st*, std::unique_ptr<CUmemPoolHandle_st>>& pools() {
  static auto* const map = new std::unordered_map<CUmemPoolHandle_st*, std::unique_ptr<CUmemPoolHandle_st>>;
  return *map;
}
CUmemPoolHandle_st* current_pool = nullptr;  // null: the default one

// What came from a pool and is not on its way back.
struct Pooled {
  CUmemPoolHandle_st* pool;
  size_t bytes;
};
std::unordered_map<void*, Pooled>& pooled() {
  static auto* const map = new std::unordered_map<void*, Pooled>;
  return *map;
}

bool is_pool(CUmemPoolHandle_st* pool) {
  return pool == default_pool() || pools().count(pool) != 0;
}

class AllocationWork : public Work {
 public:
  AllocationWork(const char* call, const Area& area) : Work(call) { touched = {area.touched(true)}; }
  void run(std::uint64_t) override {}
};

class FreeWork : public Work {
 public:
  explicit FreeWork(const Area& area) : Work("cudaFreeAsync"), pointer_(area.row(0, 0)) {
    touched = {area.touched(true)};
  }
  void run(std::uint64_t) override {
    if (!release(pointer_))
      report_host("simt-free", "cudaFreeAsync: %p was freed before its stream came to this call", pointer_);
  }

 private:
  void* const pointer_;
};

// A captured allocation is the graph's, which brings the memory anew with each launch.
cudaError_t allocate_in_graph(void** pointer, size_t size, cudaStream_t stream) {
  if (!pointer || size == 0) return result(cudaErrorInvalidValue);
  std::shared_ptr<GraphMemory> memory = GraphMemory::make(size);
  if (!memory) return result(cudaErrorMemoryAllocation);
  if (const cudaError_t error = submitted(stream, graph_allocation("cudaMallocAsync", memory))) return error;
  find_stream(stream)->capture->last.back()->memory = memory;
  *pointer = memory->pointer;
  return cudaSuccess;
}

cudaError_t allocate_in_stream(void** pointer, size_t size, CUmemPoolHandle_st* pool, cudaStream_t stream) {
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (find_stream(stream)->capture) return allocate_in_graph(pointer, size, stream);
  if (const cudaError_t error = allocate_memory(pointer, size, MemoryKind::device)) return error;
  if (!*pointer) return cudaSuccess;
  if (const cudaError_t error =
          submitted(stream, std::make_shared<AllocationWork>("cudaMallocAsync", line(*pointer, size)))) {
    release(*pointer);
    *pointer = nullptr;
    return error;
  }
  const std::lock_guard<std::mutex> guard(pools_lock);
  if (!pool) pool = current_pool ? current_pool : default_pool();
  pool->used += size;
  pool->used_high = std::max(pool->used_high, pool->used);
  pooled()[*pointer] = {pool, size};
  return cudaSuccess;
}

// A counter that is no setting; null: a setting.
unsigned long long* counter(CUmemPoolHandle_st* pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReservedMemCurrent:  // nothing is kept back
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool->used;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return &pool->used_high;
    default:
      return nullptr;
  }
}

bool known(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolAttrUsedMemHigh;
}
bool is_int(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return simt::allocate_in_stream(pointer, size, nullptr, stream);
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  {
    const std::lock_guard<std::mutex> guard(simt::pools_lock);
    if (!simt::is_pool(pool)) return result(cudaErrorInvalidValue);
  }
  return simt::allocate_in_stream(pointer, size, pool, stream);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (!pointer) return result(cudaErrorInvalidValue);
  simt::Allocation found;
  const bool of_graph = simt::find_kept(pointer, &found) && found.base == pointer;
  if (!of_graph &&
      (!simt::may_free("cudaFreeAsync", pointer, false) || !simt::find_allocation(pointer, &found)))
    return result(cudaErrorInvalidValue);
  if (of_graph) return simt::submitted(stream, simt::graph_free("cudaFreeAsync", found));
  {
    const std::lock_guard<std::mutex> guard(simt::pools_lock);
    const auto entry = simt::pooled().find(pointer);
    if (entry != simt::pooled().end()) {
      entry->second.pool->used -= entry->second.bytes;
      simt::pooled().erase(entry);
    }
  }
  const simt::Area area = simt::line(pointer, found.bytes);
  // A graph that frees what it has not allocated can do so once: here that is only a place in the order.
  if (simt::find_stream(stream)->capture)
    return simt::submitted(stream, std::make_shared<simt::AllocationWork>("cudaFreeAsync", area));
  return simt::submitted(stream, std::make_shared<simt::FreeWork>(area));
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
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  if (!simt::is_pool(pool)) return result(cudaErrorInvalidValue);
  simt::current_pool = pool;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
    return result(cudaErrorInvalidValue);
  if (properties->location.type == cudaMemLocationTypeDevice && properties->location.id != 0)
    return result(cudaErrorInvalidDevice);
  auto created = std::make_unique<CUmemPoolHandle_st>();
  *pool = created.get();
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  simt::pools()[*pool] = std::move(created);
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (!simt::finish_everything()) return result(cudaErrorNotPermitted);
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  if (!simt::pools().count(pool)) return result(cudaErrorInvalidValue);
  for (auto entry = simt::pooled().begin(); entry != simt::pooled().end();) {
    entry = entry->second.pool == pool ? simt::pooled().erase(entry) : std::next(entry);
  }
  if (simt::current_pool == pool) simt::current_pool = nullptr;
  simt::pools().erase(pool);
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  return result(simt::is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
// Reuse policies are ints, thresholds and counters 64-bit; a high-water mark can only be set to 0.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  if (!simt::is_pool(pool) || !value || !simt::known(attribute)) return result(cudaErrorInvalidValue);
  if (simt::counter(pool, attribute)) {
    const bool high = attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (!high || *static_cast<unsigned long long*>(value) != 0) return result(cudaErrorInvalidValue);
    pool->used_high = pool->used;
    return result(cudaSuccess);
  }
  pool->attributes[attribute] = simt::is_int(attribute)
                                    ? static_cast<unsigned long long>(*static_cast<int*>(value))
                                    : *static_cast<unsigned long long*>(value);
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  if (!simt::is_pool(pool) || !value || !simt::known(attribute)) return result(cudaErrorInvalidValue);
  const bool is_int = simt::is_int(attribute);
  const auto found = pool->attributes.find(attribute);
  unsigned long long stored = found != pool->attributes.end() ? found->second : is_int;
  if (const unsigned long long* const counted = simt::counter(pool, attribute)) stored = *counted;
  if (is_int) {
    *static_cast<int*>(value) = static_cast<int>(stored);
  } else {
    *static_cast<unsigned long long*>(value) = stored;
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t count) {
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  return result(simt::is_pool(pool) && (descriptions || count == 0) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  const std::lock_guard<std::mutex> guard(simt::pools_lock);
  if (!flags || !location || !simt::is_pool(pool)) return result(cudaErrorInvalidValue);
  *flags = location->type == cudaMemLocationTypeDevice && location->id == 0 ? cudaMemAccessFlagsProtReadWrite
                                                                            : cudaMemAccessFlagsProtNone;
  return result(cudaSuccess);
}

}  // extern "C"
