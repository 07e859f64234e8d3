// SPDX-License-Identifier: MIT
#include "memory.h"

#include <driver_types.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "report.h"

namespace simt {
namespace {

// [front page: canary][allocation, 256-byte aligned][canary up to the page's end][inaccessible page]
struct Entry {
  char* mapping;
  std::size_t mapped;
  std::size_t size;
  MemoryKind kind;
  bool freed = false;
};

constexpr unsigned char kCanary = 0xcd;
constexpr std::size_t kAlignment = 256, kFrontCanary = 256;
constexpr std::size_t kQuarantine = std::size_t{1} << 36;  // address space that freed allocations may keep

std::mutex mutex;
std::map<char*, Entry> entries;  // by the allocation's start
std::size_t used = 0, quarantined = 0;
std::map<std::size_t, char*> freed_in_order;
std::size_t frees = 0;

std::size_t round_up(std::size_t n, std::size_t step) {
  return (n + step - 1) / step * step;
}

void drop(char* begin) {
  const Entry& e = entries.at(begin);
  munmap(e.mapping, e.mapped + page_size());
  quarantined -= e.mapped;
  entries.erase(begin);
}

const char* kind_name(MemoryKind kind) {
  return kind == MemoryKind::host ? "pinned host" : kind == MemoryKind::managed ? "managed" : "device";
}

}  // namespace

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t memory_total() {
  static const std::size_t total = [] {
    if (const char* text = std::getenv("SIMT_MEMORY")) return std::strtoull(text, nullptr, 10) << 20;
    return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) * page_size() / 4 * 3;
  }();
  return total;
}

std::size_t memory_free() {
  std::lock_guard<std::mutex> guard(mutex);
  return memory_total() - used;
}

void poison(void* p, std::size_t bytes) {
  std::memset(p, 0xff, bytes);
}

void* allocate(std::size_t bytes, MemoryKind kind) {
  std::lock_guard<std::mutex> guard(mutex);
  if (bytes > memory_total() - used) return nullptr;
  const std::size_t size = round_up(bytes ? bytes : 1, kAlignment), page = page_size();
  const std::size_t mapped = round_up(size + kFrontCanary, page);
  void* mapping = mmap(nullptr, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* base = static_cast<char*>(mapping);
  mprotect(base + mapped, page, PROT_NONE);
  char* begin = base + mapped - size;
  std::memset(begin - kFrontCanary, kCanary, kFrontCanary);
  poison(begin, bytes);
  std::memset(begin + bytes, kCanary, size - bytes);
  entries[begin] = {base, mapped, bytes, kind};
  used += bytes;
  return begin;
}

bool release(void* p) {
  std::lock_guard<std::mutex> guard(mutex);
  const auto found = entries.find(static_cast<char*>(p));
  if (found == entries.end() || found->second.freed) return false;
  Entry& e = found->second;
  e.freed = true;
  used -= e.size;
  madvise(e.mapping, e.mapped, MADV_DONTNEED);
  mprotect(e.mapping, e.mapped, PROT_NONE);
  quarantined += e.mapped;
  freed_in_order[frees++] = found->first;
  while (quarantined > kQuarantine || freed_in_order.size() > 4096) {
    drop(freed_in_order.begin()->second);
    freed_in_order.erase(freed_in_order.begin());
  }
  return true;
}

bool find_allocation(const void* p, Allocation* found) {
  std::lock_guard<std::mutex> guard(mutex);
  auto* address = const_cast<char*>(static_cast<const char*>(p));
  auto after = entries.upper_bound(address);
  if (after == entries.begin()) return false;
  const auto& [begin, e] = *--after;
  if (e.freed || address >= begin + (e.size ? e.size : 1)) return false;
  *found = {begin, e.size, e.kind};
  return true;
}

bool in_arena(const void* p) {
  Allocation found;
  return find_allocation(p, &found);
}

// ---- shared memory ----

std::size_t shared_area_size() {
  return round_up(kMaxStaticShared, page_size()) + page_size() + round_up(kMaxDynamicShared, page_size());
}

char* new_shared_area() {
  void* area = mmap(nullptr, shared_area_size() + page_size(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) fail("simt-launch", "no memory for another block's shared memory");
  auto* base = static_cast<char*>(area);
  mprotect(base + round_up(kMaxStaticShared, page_size()), page_size(), PROT_NONE);
  mprotect(base + shared_area_size(), page_size(), PROT_NONE);
  return base;
}

// ---- what went wrong ----

void check_canaries(const char* kernel) {
  std::lock_guard<std::mutex> guard(mutex);
  for (auto& [begin, e] : entries) {
    if (e.freed) continue;
    auto broken = [&](char* from, char* to, const char* where) {
      for (char* p = from; p < to; ++p) {
        if (static_cast<unsigned char>(*p) == kCanary) continue;
        const long distance = p < begin ? begin - p : p - (begin + e.size);
        if (claim_failure(cudaErrorIllegalAddress)) {
          char text[300];
          std::snprintf(text, sizeof(text),
                        "kernel %s wrote %s a %s allocation of %zu bytes, %ld bytes %s it", kernel, where,
                        kind_name(e.kind), e.size, distance, p < begin ? "ahead of" : "past the end of");
          print_report("simt-oob-global", "", text);
        }
        std::memset(from, kCanary, static_cast<std::size_t>(to - from));
        return;
      }
    };
    broken(begin - kFrontCanary, begin, "before");
    broken(begin + e.size, e.mapping + e.mapped, "past");
  }
}

Blame blame(const void* address) {
  auto* at = const_cast<char*>(static_cast<const char*>(address));
  char text[300];
  if (at < static_cast<char*>(nullptr) + 65536) {
    std::snprintf(text, sizeof(text), "address 0x%zx: a null pointer", reinterpret_cast<std::size_t>(at));
    return {false, text};
  }
  auto after = entries.upper_bound(at);
  if (after != entries.begin()) {
    const auto& [begin, e] = *std::prev(after);
    if (e.freed && at < begin + e.size) {
      std::snprintf(text, sizeof(text), "byte %zd of a freed %s allocation of %zu bytes", at - begin,
                    kind_name(e.kind), e.size);
      return {true, text};
    }
    if (at < e.mapping + e.mapped + (std::size_t{1} << 30)) {
      std::snprintf(text, sizeof(text), "%zd bytes past the end of a %s allocation of %zu bytes",
                    at - (begin + e.size), kind_name(e.kind), e.size);
      return {false, text};
    }
  }
  if (after != entries.end() && after->first - at < (std::ptrdiff_t{1} << 30)) {
    std::snprintf(text, sizeof(text), "%zd bytes before a %s allocation of %zu bytes", after->first - at,
                  kind_name(after->second.kind), after->second.size);
    return {false, text};
  }
  std::snprintf(text, sizeof(text), "address %p belongs to no allocation", address);
  return {false, text};
}

void reset_device() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    for (auto& [begin, e] : entries) munmap(e.mapping, e.mapped + page_size());
    entries.clear();
    freed_in_order.clear();
    used = quarantined = 0;
  }
  clear_errors();
}

}  // namespace simt
