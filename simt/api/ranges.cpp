// SPDX-License-Identifier: MIT
//
// What an address is. Device, pinned and managed memory all live in the runtime's arena; any other address is
// the host's own, or a device variable. Each range that a call names is checked against the allocation that
// it starts in, before a byte moves.

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "api/host_objects.h"
#include "api/memory.h"
#include "runtime/cures.h"
#include "runtime/module.h"
#include "runtime/ordering.h"
#include "runtime/variables.h"

#ifdef __linux__
extern "C" const char data_start __attribute__((weak));  // the linker's
#endif

namespace simt {
namespace {

// Memory outside the arena that the program told us of: cudaHostRegister() and addresses of symbols.
struct Region {
  size_t size;
  cudaMemoryType type;
  unsigned int flags;
};
std::atomic<unsigned> unregistered{0};
std::mutex regions_lock;
std::map<const char*, Region>& regions() {
  static auto* const map = new std::map<const char*, Region>;
  return *map;
}

// The one around an address, null where there is none; regions_lock is held.
const std::pair<const char* const, Region>* region_around(const char* p) {
  const auto next = regions().upper_bound(p);
  if (next == regions().begin()) return nullptr;
  const auto& found = *std::prev(next);
  return p < found.first + found.second.size ? &found : nullptr;
}

const char* kind_text(MemoryKind kind) {
  return kind == MemoryKind::device    ? "device memory"
         : kind == MemoryKind::managed ? "managed memory"
                                       : "pinned host memory";
}

}  // namespace

Range find_range(const void* pointer) {
  const char* const p = static_cast<const char*>(pointer);
  Allocation found;
  if (find_allocation(pointer, &found) || find_kept(pointer, &found)) {  // a graph's may be there later
    const cudaMemoryType type = found.kind == MemoryKind::device    ? cudaMemoryTypeDevice
                                : found.kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                                    : cudaMemoryTypeHost;
    return {found.base, found.bytes, type, kind_text(found.kind)};
  }
  const std::lock_guard<std::mutex> guard(regions_lock);
  if (const auto* found = region_around(p)) {
    const auto& [base, region] = *found;
    return {base, region.size, region.type,
            region.type == cudaMemoryTypeDevice ? "a device variable" : "registered host memory"};
  }
  if (Variable variable; find_variable(p, &variable) && variable.kind == VariableKind::managed)
    return {variable.begin, variable.bytes, cudaMemoryTypeManaged, "a managed variable"};
  return {p, 0, cudaMemoryTypeUnregistered, "host memory"};
}

bool is_constant(const void* pointer) {
#ifdef __linux__
  const char* const p = static_cast<const char*>(pointer);
  return module_begin <= p && p < &data_start;
#else
  static_cast<void>(pointer);
  return false;
#endif
}

namespace {

// " (4 rows of 12, 16 apart)"; of one piece nothing.
std::string rows_text(const Area& area) {
  return area.height * area.depth <= 1
             ? ""
             : format_text(" (%zu rows of %zu, %zu apart)", area.height * area.depth, area.width, area.pitch);
}

bool inside_host_object(const char* call, const char* role, const Area& area) {
  HostObject object;
  if (!leaves_host_object(area.pointer, area.extent(), &object)) return true;
  report_host(
      "simt-memcpy",
      "%s: %s needs %zu bytes%s, but %zu are left of %s\nBoth sizes are bytes: n * sizeof(float), say, "
      "in malloc() and in the copy.",
      call, role, area.extent(), rows_text(area).c_str(), object.left, object.what.c_str());
  return false;
}

}  // namespace

bool inside(const char* call, const char* role, const Area& area, const Range& range) {
  if (range.type == cudaMemoryTypeUnregistered) {
    if (!is_global(area.pointer)) return inside_host_object(call, role, area);
    report_host("simt-memcpy", "%s: %s is in device memory that is not allocated now (freed, or never was)",
                call, role);
    return false;
  }
  const size_t offset = static_cast<size_t>(static_cast<const char*>(area.pointer) - range.base);
  const size_t left = range.size - offset;
  if (area.extent() <= left) return true;
  report_host("simt-memcpy", "%s: %s needs %zu bytes%s, but %zu are left of the %zu of %s", call, role,
              area.extent(), rows_text(area).c_str(), left, range.size, range.what);
  return false;
}

bool still_there(const char* call, const char* role, const Area& area) {
  Allocation found;
  if (!is_global(area.pointer) || find_allocation(area.pointer, &found)) return true;
  report_host("simt-use-after-free", "%s: %s was freed before its stream came to this call", call, role);
  set_sticky(cudaErrorIllegalAddress);
  return false;
}

void note_written(const Area& to, std::uint64_t number) {
  if (!checked_build) return;
  for (size_t z = 0; z < to.depth; ++z)
    for (size_t y = 0; y < to.height; ++y) host_wrote(to.row(y, z), to.width, number);
}

void check_order(const char* call, const Area& area, bool writes, std::uint64_t number) {
  if (!checked_build) return;
  std::string kernel;
  void* place = nullptr;
  for (size_t z = 0; z < area.depth; ++z) {
    for (size_t y = 0; y < area.height; ++y) {
      if (host_may_use(area.row(y, z), area.width, number, &kernel, &place)) continue;
      Failure failure;
      failure.slug = "simt-stream-order";
      failure.title = "two operations in different streams use the same memory, and nothing orders them";
      if (place) failure.frames = {place};
      failure.details = format_text("kernel %s writes what %s %s in another stream.\n%s", kernel.c_str(),
                                    call, writes ? "writes" : "reads", kStreamCure);
      return print_failure(failure, "");
    }
  }
}

bool find_registered(const void* address, const char** begin, const char** end) {
  const std::lock_guard<std::mutex> guard(regions_lock);
  const auto* found = region_around(static_cast<const char*>(address));
  if (!found) return false;
  *begin = found->first;
  *end = *begin + found->second.size;
  return true;
}

unsigned times_unregistered() {
  return unregistered.load(std::memory_order_relaxed);
}

void note_symbol(const void* symbol, size_t size) {
  const std::lock_guard<std::mutex> guard(regions_lock);
  regions()[static_cast<const char*>(symbol)] = Region{size, cudaMemoryTypeDevice, 0};
}

bool register_host(void* pointer, size_t size, unsigned int flags) {
  const std::lock_guard<std::mutex> guard(regions_lock);
  const char* const begin = static_cast<char*>(pointer);
  const auto next = regions().lower_bound(begin + size);
  if (next != regions().begin()) {
    const auto& [base, region] = *std::prev(next);
    if (base + region.size > begin) return false;  // some of it is registered already
  }
  regions()[begin] = Region{size, cudaMemoryTypeHost, flags};
  ++registered_ranges;
  return true;
}

bool unregister_host(void* pointer) {
  const std::lock_guard<std::mutex> guard(regions_lock);
  const auto found = regions().find(static_cast<char*>(pointer));
  if (found == regions().end() || found->second.type != cudaMemoryTypeHost) return false;
  regions().erase(found);
  ++unregistered;
  --registered_ranges;
  return true;
}

}  // namespace simt
