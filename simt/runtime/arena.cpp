// SPDX-License-Identifier: MIT
//
// Device memory: one reserved range of addresses, from which each allocation takes fresh pages:
//
//   [inaccessible page] canary ... data (starts at a multiple of 256) ... canary [inaccessible page]
//
// The data's size is rounded up to 256 and ends at the page end, so most overruns fault at once; the canaries
// find short ones after the launch. Freed pages become inaccessible and are taken again only when the range
// is used up: a use after free faults. In checked builds device memory is inaccessible while nothing runs
// that may use it: host code that does faults, too.
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "device_memory.h"
#include "doubts.h"
#include "own_memory.h"
#include "shadow.h"

namespace simt {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kCanary = 256;  // bytes checked before the data; after it the rest of its 256
// Canaries differ from one allocation to the next: a copy that runs past its end copies one canary over
// another, and must not leave the same bytes behind.
constexpr unsigned char kFirstCanary = 0x81, kCanaries = 113;
// Inaccessible addresses before the first allocation: an index that an int's overflow has made negative leads there, whatever the
// element, and to nothing else's memory.
constexpr std::size_t kBefore = std::size_t{64} << 30;
constexpr std::size_t kPoisonLimit = std::size_t{1}
                                     << 30;  // larger allocations are poisoned at both ends only

struct Entry {
  std::size_t bytes;  // as asked for
  char* pages;        // first page
  std::size_t page_bytes;
  MemoryKind kind;
  bool live;
  unsigned char canary;  // the byte that fills both of its canaries
  bool kept = false;     // its addresses stay its own while it is not live
  bool mapped = false;   // what lies under them is not ours: reserve_addresses()
  bool closed = false;   // close_device_memory()
  std::string name = {};
};

struct Arena : InOwnMemory {
  std::mutex mutex;
  char* begin = nullptr;
  std::size_t size = 0;
  std::size_t before = 0;  // inaccessible addresses that end at `begin`
  std::size_t page = 4096;
  std::size_t fresh = 0;            // offset of the first page never used
  std::size_t used = 0, total = 0;  // bytes of live allocations; the device's size
  std::size_t allocations = 0;      // so far
  OwnMap<char*, Entry> entries;     // by data address; freed ones stay until their pages are taken again
  OwnMap<char*, Entry*> guarded;    // the live ones with canaries, which are looked at after each launch
  // Of closing and opening: what could be closed, what is, seconds that it may still take, and since when
  // the memory is open.
  OwnSet<Entry*> closable;
  OwnVector<Entry*> closed;
  double seconds_left = 0.004, open_since = 0;
};

Arena& arena() {
  static Arena* arena = [] {
    Arena* a = new Arena;
    a->page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * a->page;
    const char* megabytes = std::getenv("SIMT_MEMORY");
    a->total = megabytes ? std::strtoull(megabytes, nullptr, 10) << 20 : physical;
    // Addresses cost nothing: take many, so that freed ones can rest for long. Fewer where the system limits
    // them.
    for (a->size = std::max(std::size_t{1} << 40, 4 * a->total); a->size >= std::size_t{1} << 24;
         a->size /= 2) {
      const std::size_t before = std::min(kBefore, a->size / 16);
      void* memory =
          mmap(nullptr, before + a->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) continue;
      if (checked_build && !map_shadow(static_cast<char*>(memory) + before, a->size)) {
        munmap(memory, before + a->size);
        continue;
      }
      a->begin = static_cast<char*>(memory) + before;
      a->before = before;
      return a;
    }
    a->size = 0;
    return a;
  }();
  return *arena;
}

// A run of `bytes` unused addresses: fresh ones, else those of the oldest freed neighbours.
char* take_addresses(Arena& a, std::size_t bytes) {
  if (a.size - a.fresh >= bytes) {
    char* pages = a.begin + a.fresh;
    a.fresh += bytes;
    return pages;
  }
  auto first = a.entries.begin();
  for (auto it = a.entries.begin(); it != a.entries.end(); ++it) {
    if (it->second.live || it->second.kept) {
      first = std::next(it);
      continue;
    }
    // Each allocation owns the guard pages at both of its ends.
    char* start = first->second.pages - a.page;
    if (static_cast<std::size_t>(it->second.pages + it->second.page_bytes + a.page - start) < bytes) continue;
    a.entries.erase(first, std::next(it));
    return start;
  }
  return nullptr;
}

void fill_poison(char* data, std::size_t bytes) {
  if (bytes <= kPoisonLimit) {
    std::memset(data, kPoison, bytes);
  } else {
    std::memset(data, kPoison, kPoisonLimit / 2);
    std::memset(data + bytes - kPoisonLimit / 2, kPoison, kPoisonLimit / 2);
  }
}

std::size_t front_canary(const char* data, const Entry& e) {
  return std::min<std::size_t>(kCanary, static_cast<std::size_t>(data - e.pages));
}

bool all_are(const char* data, std::size_t bytes, unsigned char value) {
  return bytes == 0 ||
         (static_cast<unsigned char>(*data) == value && std::memcmp(data, data + 1, bytes - 1) == 0);
}

// The distance past or before the data at which a canary has changed; 0: both are whole.
std::ptrdiff_t broken_canary(const char* data, const Entry& e) {
  const char* end = data + e.bytes;
  const char* page_end = data + round_up(e.bytes, kAlignment);
  const std::size_t front = front_canary(data, e);
  if (all_are(end, static_cast<std::size_t>(page_end - end), e.canary) &&
      all_are(data - front, front, e.canary))
    return 0;
  for (const char* p = end; p < page_end; ++p)
    if (static_cast<unsigned char>(*p) != e.canary) return p - end + 1;
  for (const char* p = data - 1; p >= data - front; --p)
    if (static_cast<unsigned char>(*p) != e.canary) return p - data;
  return 0;
}

}  // namespace

bool hash_device_memory(std::uint64_t* hash) {
  Arena& a = arena();
  const std::lock_guard<std::mutex> lock(a.mutex);
  for (const auto& [data, entry] : a.entries) {
    if (!entry.live) continue;
    if (entry.mapped || entry.closed) return false;
    *hash = hash_bytes(data, entry.bytes, *hash);
  }
  return true;
}

const char* kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::managed:
      return "managed";
  }
  return "";
}

std::string buffer_text(const Allocation& buffer) {
  return format_text("%s%sa %s buffer of %s", buffer.name, buffer.name[0] ? ", " : "", kind_name(buffer.kind),
                     bytes_text(buffer.bytes).c_str());
}

std::string place_in_buffer(const char* p) {
  Allocation found;
  if (!find_allocation(p, &found)) return "it";
  return format_text("byte %td of %s", p - found.base, buffer_text(found).c_str());
}

namespace {

// The live allocation nearest to an address that lies in none.
bool nearest_live(const char* p, Allocation* found) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto distance = [p](const Entry& e, const char* data) {
    return p < data ? data - p : p - (data + e.bytes);
  };
  const char* nearest = nullptr;
  for (const auto& [data, entry] : a.guarded) {
    if (nearest && distance(*entry, data) >= distance(*a.guarded[const_cast<char*>(nearest)], nearest))
      continue;
    nearest = data;
    *found = {data, entry->bytes, entry->kind, true, entry->kept, entry->name.c_str()};
  }
  return nearest != nullptr;
}

}  // namespace

std::string beside_nearest(const char* p) {
  Allocation near;
  if (!nearest_allocation(p, &near)) return "";
  if (!near.live) nearest_live(p, &near);  // what was freed long ago tells little
  const std::ptrdiff_t past = p - (near.base + near.bytes);
  // An index in bytes or in elements that is about as large as an int can be.
  constexpr std::ptrdiff_t kFar = std::ptrdiff_t{1} << 30;
  const bool far = past >= kFar || near.base - p >= kFar;
  return (past >= 0 ? past_end_of(past) : bytes_text(static_cast<std::size_t>(near.base - p)) + " before") +
         " " + buffer_text(near) + (far ? ": an int that has overflowed, perhaps" : "");
}

namespace {

using Entries = decltype(Arena::entries);

// Addresses for an allocation, with nothing under them yet.
Entries::iterator take_entry(Arena& a, std::size_t bytes, MemoryKind kind) {
  bytes = std::max<std::size_t>(bytes, 1);
  const std::size_t rounded = round_up(bytes, kAlignment);
  const std::size_t page_bytes = round_up(rounded, a.page);
  char* guard = take_addresses(a, page_bytes + 2 * a.page);
  if (!guard) return a.entries.end();
  char* pages = guard + a.page;
  const auto canary = static_cast<unsigned char>(kFirstCanary + a.allocations++ % kCanaries);
  return a.entries
      .insert_or_assign(pages + page_bytes - rounded, Entry{bytes, pages, page_bytes, kind, false, canary})
      .first;
}

bool make_live(Arena& a, char* data, Entry& e) {
  if (e.bytes > a.total || a.used + e.bytes > a.total) return false;
  if (mprotect(e.pages, e.page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::memset(data - front_canary(data, e), e.canary, front_canary(data, e));
  std::memset(data + e.bytes, e.canary, round_up(e.bytes, kAlignment) - e.bytes);
  fill_poison(data, e.bytes);
  shadow_allocated(data, e.bytes, e.kind);
  a.used += e.bytes;
  e.live = true;
  a.guarded[data] = &e;
  if (checked_build && e.kind == MemoryKind::device) a.closable.insert(&e);
  return true;
}

double seconds_of(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double coarse_now() {  // this is asked around each operation
#ifdef CLOCK_MONOTONIC_COARSE
  return seconds_of(CLOCK_MONOTONIC_COARSE);
#else
  return seconds_of(CLOCK_MONOTONIC);
#endif
}

// Runs `work`, whose time counts against what closing and opening may take.
template <class Call>
void pay(Arena& a, Call work) {
  const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  work();
  a.seconds_left -= seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
}

}  // namespace

// To change what pages allow costs microseconds a buffer and a fraction of one a page, more than a small
// launch takes. So there is a sum to spend, which grows with the time for which operations run: nothing
// becomes slower by more than that share, and what there is no time for stays open.
void close_device_memory() {
  constexpr double kShare = 0.03, kMost = 1;
  constexpr double kEntry = 10e-6, kPage = 0.3e-6;  // to close and open it again, about
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const double now = coarse_now();
  if (a.open_since != 0) a.seconds_left = std::min(kMost, a.seconds_left + kShare * (now - a.open_since));
  a.open_since = 0;
  if (a.closable.empty() || a.seconds_left < kEntry) return;
  pay(a, [&] {
    double planned = 0;
    for (auto it = a.closable.begin(); it != a.closable.end();) {
      Entry& e = **it;
      const double cost = kEntry + kPage * static_cast<double>(e.page_bytes / a.page);
      const bool close = planned + cost < a.seconds_left && mprotect(e.pages, e.page_bytes, PROT_NONE) == 0;
      if (!close) {
        ++it;
        continue;
      }
      planned += cost;
      e.closed = true;
      a.closed.push_back(&e);
      it = a.closable.erase(it);
    }
  });
}

void open_device_memory() {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  if (!a.closed.empty()) {
    pay(a, [&] {
      for (Entry* e : a.closed) {
        if (mprotect(e->pages, e->page_bytes, PROT_READ | PROT_WRITE) != 0) {
          std::fprintf(stderr, "simt: the system has no more mappings for device memory\n");
          std::_Exit(1);
        }
        e->closed = false;
        a.closable.insert(e);
      }
      a.closed.clear();
    });
  }
  a.open_since = coarse_now();
}

void* allocate(std::size_t bytes, MemoryKind kind) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  if (bytes > a.total || a.used + bytes > a.total) return nullptr;
  const auto it = take_entry(a, bytes, kind);
  return it != a.entries.end() && make_live(a, it->first, it->second) ? it->first : nullptr;
}

void* reserve(std::size_t bytes) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = take_entry(a, bytes, MemoryKind::device);
  if (it == a.entries.end()) return nullptr;
  it->second.kept = true;
  return it->first;
}

bool revive(void* pointer) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = a.entries.find(static_cast<char*>(pointer));
  return it != a.entries.end() && it->second.kept && !it->second.live && make_live(a, it->first, it->second);
}

void give_up(void* pointer) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = a.entries.find(static_cast<char*>(pointer));
  if (it != a.entries.end()) it->second.kept = false;
}

void* reserve_addresses(std::size_t bytes, std::size_t alignment) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  char* guard = take_addresses(a, bytes + alignment + 2 * a.page);
  if (!guard) return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(guard + a.page);
  char* pages = guard + a.page + (round_up(first, alignment) - first);
  Entry e{0, pages, bytes, MemoryKind::device, false, 0};
  e.kept = e.mapped = true;
  a.entries[pages] = e;
  return pages;
}

void set_mapped(void* addresses, std::size_t bytes) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = a.entries.find(static_cast<char*>(addresses));
  if (it == a.entries.end()) return;
  Entry& e = it->second;
  if (bytes > e.bytes) {
    shadow_allocated(it->first + e.bytes, bytes - e.bytes, e.kind);
  } else if (bytes < e.bytes) {
    shadow_released(it->first + bytes, e.bytes - bytes);
  }
  e.bytes = bytes;
  e.live = bytes > 0;
}

void free_addresses(void* addresses) {
  set_mapped(addresses, 0);
  give_up(addresses);
}

bool take_memory(std::size_t bytes) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  if (bytes > a.total || a.used + bytes > a.total) return false;
  a.used += bytes;
  return true;
}

void give_memory(std::size_t bytes) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  a.used -= bytes;
}

bool release(void* pointer) {
  if (Allocation found; checked_build && find_allocation(pointer, &found) && found.base == pointer)
    report_early_reads(found.base, found.bytes);
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = a.entries.find(static_cast<char*>(pointer));
  if (it == a.entries.end() || !it->second.live || it->second.mapped) return false;
  Entry& e = it->second;
  // Closed memory is as it was when its canaries were looked at last.
  if (const std::ptrdiff_t distance = e.closed ? 0 : broken_canary(it->first, e)) {
    report_host("simt-oob-global", "a buffer of %s was overrun: a byte %s %s was overwritten",
                bytes_text(e.bytes).c_str(), bytes_text(static_cast<std::size_t>(std::abs(distance))).c_str(),
                distance > 0 ? "past its end" : "before its start");
  }
  // Fresh zero pages, or none at all, under the old addresses: gives the memory back and makes them
  // inaccessible.
  mmap(e.pages, e.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  shadow_released(it->first, e.bytes);
  a.closable.erase(&e);
  a.guarded.erase(it->first);
  if (e.closed) a.closed.erase(std::find(a.closed.begin(), a.closed.end(), &e));
  e.live = e.closed = false;
  a.used -= e.bytes;
  return true;
}

void release_everything() {
  forget_heap();
  std::vector<char*> live;
  {
    Arena& a = arena();
    std::lock_guard<std::mutex> lock(a.mutex);
    for (const auto& [data, entry] : a.entries)
      if (entry.live) live.push_back(data);
  }
  for (char* data : live) release(data);
}

namespace {
bool find_entry(const void* address, bool also_kept, Allocation* found) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  char* p = static_cast<char*>(const_cast<void*>(address));
  auto it = a.entries.upper_bound(p);
  if (it == a.entries.begin()) return false;
  --it;
  const Entry& e = it->second;
  if (!(e.live || (also_kept && e.kept)) || p >= it->first + e.bytes) return false;
  *found = {it->first, e.bytes, e.kind, e.live, e.kept, e.name.c_str()};
  return true;
}
}  // namespace

bool find_allocation(const void* address, Allocation* found) {
  return find_entry(address, false, found);
}
void name_memory(const void* base, const char* name) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  const auto it = a.entries.find(static_cast<char*>(const_cast<void*>(base)));
  if (it != a.entries.end()) it->second.name = name;
}

bool find_kept(const void* address, Allocation* found) {
  return find_entry(address, true, found) && found->kept;
}

bool nearest_allocation(const void* address, Allocation* found) {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  char* p = static_cast<char*>(const_cast<void*>(address));
  const auto above = a.entries.upper_bound(p);
  const auto below = above == a.entries.begin() ? a.entries.end() : std::prev(above);
  auto best = below;
  if (best == a.entries.end()) {
    best = above;
  } else if (above != a.entries.end() && p >= below->first + below->second.bytes) {
    if (above->first - p < p - (below->first + below->second.bytes)) best = above;
  }
  if (best == a.entries.end()) return false;
  const Entry& e = best->second;
  *found = {best->first, e.bytes, e.kind, e.live, e.kept, e.name.c_str()};
  return true;
}

void check_canaries(const char* kernel) {
  struct Broken {
    std::size_t bytes;
    std::ptrdiff_t distance;
  };
  std::vector<Broken> found;
  {
    Arena& a = arena();
    std::lock_guard<std::mutex> lock(a.mutex);
    for (const auto& [data, guarded] : a.guarded) {
      const Entry& entry = *guarded;
      const std::ptrdiff_t distance = broken_canary(data, entry);
      if (!distance) continue;
      found.push_back({entry.bytes, distance});
      std::memset(data - front_canary(data, entry), entry.canary, front_canary(data, entry));
      std::memset(data + entry.bytes, entry.canary, round_up(entry.bytes, kAlignment) - entry.bytes);
    }
  }
  for (const Broken& b : found) {
    Failure failure;
    failure.slug = "simt-oob-global";
    failure.title = "out of bounds on global memory";
    failure.error = cudaErrorIllegalAddress;
    failure.details = format_text(
        "kernel %s wrote a byte %s a buffer of %s\n"
        "Found after the launch; a checked build names the line.",
        kernel,
        b.distance > 0 ? past_end_of(b.distance - 1).c_str()
                       : (bytes_text(static_cast<std::size_t>(-b.distance)) + " before").c_str(),
        bytes_text(b.bytes).c_str());
    print_failure(failure, kernel);
    set_sticky(failure.error);
  }
}

bool is_near_arena(const void* address) {
  const Arena& a = arena();
  const char* p = static_cast<const char*>(address);
  return a.begin && p >= a.begin - a.before && p < a.begin + a.size;
}
bool in_arena(const void* address) {
  const Arena& a = arena();
  const char* p = static_cast<const char*>(address);
  return a.begin && p >= a.begin && p < a.begin + a.size;
}
bool is_global(const void* address) {
  return in_arena(address);
}

std::size_t memory_total() {
  return arena().total;
}

std::size_t memory_free() {
  Arena& a = arena();
  std::lock_guard<std::mutex> lock(a.mutex);
  return a.total - a.used;
}

}  // namespace simt
