// SPDX-License-Identifier: MIT
#include "checked.h"

#include <algorithm>

namespace simt {

bool checked_build = false;

namespace {

struct Range {
  const char* begin;
  const char* end;
  bool holds(const char* p, std::size_t bytes) const { return p >= begin && p + bytes <= end; }
};

[[noreturn]] void stop(void* caller, const char* slug, const std::string& message) {
  abandon(failure_of_access(caller, slug, message));
}

const char* verb(Access access) {
  return access == Access::read ? "reads" : "writes";
}

void check_global(const char* p, std::size_t bytes, Access access, void* caller) {
  static thread_local Range last = {nullptr, nullptr};  // most accesses go where the last one went
  static thread_local std::uint64_t last_launch = 0;
  if (last_launch == worker->launch->number && last.holds(p, bytes)) return;
  Allocation found;
  if (find_allocation(p, &found)) {
    last = {found.base, found.base + found.bytes};
    last_launch = worker->launch->number;
    if (last.holds(p, bytes)) return;
    stop(caller, "simt-oob-global",
         format_text("out of bounds on global memory\nThe thread %s %zu bytes, of which %td are past the end "
                     "of a %s buffer "
                     "of %zu bytes.",
                     verb(access), bytes, p + bytes - last.end, kind_name(found.kind), found.bytes));
  }
  if (!nearest_allocation(p, &found)) found = {};
  if (!found.live && found.base && p >= found.base && p < found.base + found.bytes) {
    stop(caller, "simt-use-after-free",
         format_text(
             "use of freed global memory\nThe thread %s byte %td of a %s buffer of %zu bytes that was freed.",
             verb(access), p - found.base, kind_name(found.kind), found.bytes));
  }
  const bool past = p >= found.base + found.bytes;
  stop(caller, "simt-oob-global",
       format_text(
           "out of bounds on global memory\nThe thread %s %zu bytes, %td bytes %s a %s buffer of %zu bytes.",
           verb(access), bytes, past ? p - (found.base + found.bytes) : found.base - p,
           past ? "past the end of" : "before", kind_name(found.kind), found.bytes));
}

void check_shared(const char* p, std::size_t bytes, Access access, void* caller) {
  for (const Block* block : worker->resident) {
    std::string beyond;
    if (shared_holds(*block, p, bytes, &beyond)) return;
    if (beyond.empty()) continue;
    stop(caller, "simt-oob-shared",
         format_text("out of bounds on shared memory\nThe thread %s %zu bytes %s.", verb(access), bytes,
                     beyond.c_str()));
  }
  stop(caller, "simt-oob-shared", "access to the shared memory of a block that is not in this cluster");
}

}  // namespace

Failure failure_of_access(void* caller, const char* slug, const std::string& message) {
  Failure failure = failure_here(slug, message);
  // The instrumented function called the hook: its frames follow those of the checker.
  failure.frames = capture_frames(32);
  const auto from = std::find(failure.frames.begin(), failure.frames.end(), caller);
  failure.frames.erase(failure.frames.begin(), from);
  if (failure.frames.empty()) failure.frames.push_back(caller);
  return failure;
}

// Memory that is neither the device's nor shared passes: locals, constants, and what the runtime and the
// standard library touch on a kernel's behalf (the linker may take their templates from an instrumented
// file).
void check_access(const void* address, std::size_t bytes, Access access, std::size_t alignment,
                  void* caller) {
  if (!current || bytes == 0) return;
  settle_doubtful_store();
  const char* p = static_cast<const char*>(address);
  const bool global = in_arena(p);
  if (!global && !is_shared(p)) return;
  if (__builtin_expect(reinterpret_cast<std::uintptr_t>(p) % alignment != 0, 0)) {
    stop(caller, "simt-misaligned",
         format_text("misaligned access\nThe thread %s %zu bytes at an address that is no multiple of %zu.",
                     verb(access), bytes, alignment));
  }
  if (global) {
    check_global(p, bytes, access, caller);
  } else {
    check_shared(p, bytes, access, caller);
    check_race(p, bytes, access, caller);
  }
}

// Races with plain accesses are not looked for.
void check_atomic(const volatile void* address, std::size_t bytes) {
  if (!current) return;
  const char* p = const_cast<const char*>(static_cast<const volatile char*>(address));
  settle_doubtful_store();
  if (in_arena(p)) {
    check_global(p, bytes, Access::write, __builtin_return_address(0));
  } else if (is_shared(p)) {
    check_shared(p, bytes, Access::write, __builtin_return_address(0));
    forget_accesses(p, bytes);
  }
}

}  // namespace simt
