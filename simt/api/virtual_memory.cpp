// SPDX-License-Identifier: MIT
//
// The driver API's virtual memory. Memory is an anonymous file, so that it keeps what it holds wherever it is
// mapped; addresses are a stretch of the arena.

#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "api/calls.h"
#include "runtime/operations.h"
#include "runtime/ordering.h"

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;  // as on a GPU

// Held by its handle and by all that maps it.
struct Memory {
  std::size_t bytes = 0;
  std::FILE* owner = nullptr;  // where the system has no memfd
  int file = -1;
  CUmemAllocationProp properties{};
  bool used = false;  // mapped before: it holds data
  ~Memory() {
    if (owner) {
      std::fclose(owner);
    } else if (file >= 0) {
      close(file);
    }
    simt::give_memory(bytes);
  }
};
using MemoryPtr = std::shared_ptr<Memory>;

struct Mapping {
  std::size_t bytes;
  MemoryPtr memory;
  CUmemAccess_flags access;
};
struct Reservation {
  std::size_t bytes;
  std::map<char*, Mapping> mappings;

  std::size_t end_of_mapped(const char* base) const {
    return mappings.empty()
               ? 0
               : static_cast<std::size_t>(mappings.rbegin()->first - base) + mappings.rbegin()->second.bytes;
  }
};

std::mutex lock;
std::map<char*, Reservation>& reservations() {
  static auto* const map = new std::map<char*, Reservation>;
  return *map;
}
unsigned long long handles = 0;
std::map<CUmemGenericAllocationHandle, MemoryPtr>& memories() {
  static auto* const map = new std::map<CUmemGenericAllocationHandle, MemoryPtr>;
  return *map;
}

bool fits_granularity(std::uint64_t n) {
  return n % kGranularity == 0;
}

char* address(CUdeviceptr pointer) {
  return reinterpret_cast<char*>(pointer);
}

// The reservation that holds all of a range; end(): none does.
std::map<char*, Reservation>::iterator find_reservation(char* begin, std::size_t bytes) {
  auto it = reservations().upper_bound(begin);
  if (it == reservations().begin()) return reservations().end();
  --it;
  const auto offset = static_cast<std::size_t>(begin - it->first);
  return offset <= it->second.bytes && bytes <= it->second.bytes - offset ? it : reservations().end();
}

// Whether whole mappings fill the range.
bool all_mapped(const Reservation& r, char* begin, std::size_t bytes) {
  for (char* at = begin; at < begin + bytes;) {
    const auto it = r.mappings.find(at);
    if (it == r.mappings.end()) return false;
    at += it->second.bytes;
    if (at > begin + bytes) return false;
  }
  return true;
}

bool overlaps_mapped(const Reservation& r, char* begin, std::size_t bytes) {
  const auto next = r.mappings.lower_bound(begin + bytes);
  return next != r.mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin;
}

bool open_file(Memory& memory) {
#ifdef __linux__
  memory.file = memfd_create("simt", MFD_CLOEXEC);
#else
  memory.owner = std::tmpfile();
  memory.file = memory.owner ? fileno(memory.owner) : -1;
#endif
  return memory.file >= 0 && ftruncate(memory.file, static_cast<off_t>(memory.bytes)) == 0;
}

// As with cudaMalloc(): what nothing has written is NaN.
bool poison(const Memory& memory) {
  void* const p = mmap(nullptr, memory.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file, 0);
  if (p == MAP_FAILED) return false;
  std::memset(p, 0xff, memory.bytes);
  return munmap(p, memory.bytes) == 0;
}

bool on_the_device(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

int protection(CUmemAccess_flags flags) {
  return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
         : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                     : PROT_NONE;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* p,
                                       CUmemAllocationGranularity_flags) {
  if (!granularity || !p || !on_the_device(p->location)) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  if (!pointer || size == 0 || !fits_granularity(size) || flags || (alignment & (alignment - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  void* const addresses = simt::reserve_addresses(size, std::max(alignment, kGranularity));
  if (!addresses) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard<std::mutex> guard(lock);
  reservations()[static_cast<char*>(addresses)].bytes = size;
  *pointer = reinterpret_cast<CUdeviceptr>(addresses);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto it = reservations().find(address(pointer));
  const bool whole = it != reservations().end() && it->second.bytes == size && it->second.mappings.empty();
  if (!whole) return CUDA_ERROR_INVALID_VALUE;
  simt::free_addresses(it->first);
  reservations().erase(it);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* p,
                     unsigned long long flags) {
  if (!handle || !p || size == 0 || !fits_granularity(size) || flags) return CUDA_ERROR_INVALID_VALUE;
  if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED || !on_the_device(p->location))
    return CUDA_ERROR_INVALID_VALUE;
  if (p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  if (!simt::take_memory(size)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto memory = std::make_shared<Memory>();
  memory->bytes = size;
  memory->properties = *p;
  if (!open_file(*memory) || !poison(*memory)) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard<std::mutex> guard(lock);
  *handle = ++handles;
  memories()[*handle] = std::move(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::lock_guard<std::mutex> guard(lock);
  return memories().erase(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  const std::lock_guard<std::mutex> guard(lock);
  char* const begin = address(pointer);
  const auto memory = memories().find(handle);
  const auto reservation = find_reservation(begin, size);
  if (memory == memories().end() || reservation == reservations().end() || flags || size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const std::size_t bytes = memory->second->bytes;
  const bool fits = fits_granularity(pointer) && fits_granularity(size) && fits_granularity(offset) &&
                    offset <= bytes && size <= bytes - offset;
  if (!fits || overlaps_mapped(reservation->second, begin, size)) return CUDA_ERROR_INVALID_VALUE;
  void* const mapped =
      mmap(begin, size, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second->file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  reservation->second.mappings[begin] = {size, memory->second, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  simt::set_mapped(reservation->first, reservation->second.end_of_mapped(reservation->first));
  if (simt::checked_build && memory->second->used) simt::host_wrote(begin, size, 0);
  memory->second->used = true;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
  if (!simt::finish_everything()) return CUDA_ERROR_NOT_PERMITTED;
  const std::lock_guard<std::mutex> guard(lock);
  char* const begin = address(pointer);
  const auto reservation = find_reservation(begin, size);
  if (reservation == reservations().end() || size == 0 || !all_mapped(reservation->second, begin, size))
    return CUDA_ERROR_INVALID_VALUE;
  mmap(begin, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  auto& mappings = reservation->second.mappings;
  mappings.erase(mappings.find(begin), mappings.lower_bound(begin + size));
  simt::set_mapped(reservation->first, reservation->second.end_of_mapped(reservation->first));
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc* access, size_t count) {
  if (!access || count != 1) return CUDA_ERROR_INVALID_VALUE;
  if (!on_the_device(access->location)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard<std::mutex> guard(lock);
  char* const begin = address(pointer);
  const auto reservation = find_reservation(begin, size);
  if (reservation == reservations().end() || size == 0 || !all_mapped(reservation->second, begin, size))
    return CUDA_ERROR_INVALID_VALUE;
  if (mprotect(begin, size, protection(access->flags)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  auto& mappings = reservation->second.mappings;
  for (auto it = mappings.find(begin); it != mappings.lower_bound(begin + size); ++it)
    it->second.access = access->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard<std::mutex> guard(lock);
  const auto reservation = find_reservation(address(pointer), 1);
  if (reservation == reservations().end()) return CUDA_ERROR_INVALID_VALUE;
  auto next = reservation->second.mappings.upper_bound(address(pointer));
  if (next == reservation->second.mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [begin, mapping] = *--next;
  if (address(pointer) >= begin + mapping.bytes) return CUDA_ERROR_INVALID_VALUE;
  *flags = on_the_device(*location) ? mapping.access : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* p, CUmemGenericAllocationHandle handle) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto memory = memories().find(handle);
  if (!p || memory == memories().end()) return CUDA_ERROR_INVALID_VALUE;
  *p = memory->second->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto reservation = find_reservation(static_cast<char*>(pointer), 1);
  if (!handle || reservation == reservations().end()) return CUDA_ERROR_INVALID_VALUE;
  auto next = reservation->second.mappings.upper_bound(static_cast<char*>(pointer));
  if (next == reservation->second.mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [begin, mapping] = *--next;
  if (static_cast<char*>(pointer) >= begin + mapping.bytes) return CUDA_ERROR_INVALID_VALUE;
  *handle = ++handles;
  memories()[*handle] = mapping.memory;
  return CUDA_SUCCESS;
}

}  // extern "C"
