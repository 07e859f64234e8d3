// SPDX-License-Identifier: MIT
#include "checked.h"
#include "checked_races.h"
#include "copies_under_way.h"
#include "device_memory.h"
#include "doubts.h"
#include "host_tables.h"
#include "ordering.h"
#include "shared_memory.h"

#include <sched.h>

#include <algorithm>
#include <atomic>

namespace simt {

bool checked_build = false;

namespace {

[[noreturn]] void stop(void* caller, const char* slug, const std::string& message) {
  abandon(failure_of_access(caller, slug, message));
}

const char* verb(Access access) {
  return access == Access::read ? "reads" : "writes";
}
const char* verb_of_read(Access access) {
  return access == Access::update ? "atomically updates" : "reads";
}

void check_global(const char* p, std::size_t bytes, Access access, void* caller) {
  if (in_one_page(static_cast<std::size_t>(p - shadow.arena), bytes)) return;
  Allocation found;
  if (find_allocation(p, &found)) {
    const char* end = found.base + found.bytes;
    if (p + bytes <= end) return;
    stop(caller, "simt-oob-global",
         format_text("out of bounds on global memory\nThe thread %s %s, of which %td are past the end "
                     "of %s.",
                     verb(access), bytes_text(bytes).c_str(), p + bytes - end, buffer_text(found).c_str()));
  }
  if (!nearest_allocation(p, &found)) found = {};
  if (!found.live && found.base && p >= found.base && p < found.base + found.bytes) {
    stop(caller, "simt-use-after-free",
         format_text("use of freed global memory\nThe thread %s byte %td of %s that was freed.", verb(access),
                     p - found.base, buffer_text(found).c_str()));
  }
  stop(caller, "simt-oob-global",
       format_text("out of bounds on global memory\nThe thread %s %s, %s.", verb(access),
                   bytes_text(bytes).c_str(), beside_nearest(p).c_str()));
}

// The block whose shared memory it is.
const Block& check_shared(const char* p, std::size_t bytes, Access access, void* caller) {
  for (const Block* block : worker->resident) {
    std::string beyond;
    if (shared_holds(*block, p, bytes, &beyond)) return *block;
    if (beyond.empty()) continue;
    stop(caller, "simt-oob-shared",
         format_text("out of bounds on shared memory\nThe thread %s %s %s.", verb(access),
                     bytes_text(bytes).c_str(), beyond.c_str()));
  }
  stop(caller, "simt-oob-shared", "access to the shared memory of a block that is not in this cluster");
}

}  // namespace

Failure failure_of_access(void* caller, const char* slug, const std::string& message) {
  const OwnWork own;
  Failure failure = failure_here(slug, message);
  // The instrumented function called the hook: its frames follow those of the checker.
  failure.frames = capture_frames(32);
  const auto from = std::find(failure.frames.begin(), failure.frames.end(), caller);
  failure.frames.erase(failure.frames.begin(), from);
  if (failure.frames.empty()) failure.frames.push_back(caller);
  return failure;
}

namespace {

void check_kernel_access(const char* p, std::size_t bytes, Access access, Strength strength,
                         std::size_t alignment, void* caller) {
  const bool global = in_arena(p);
  if (!global && !is_shared(p)) return check_host_memory(p, bytes, access != Access::read, caller);
  if (__builtin_expect(reinterpret_cast<std::uintptr_t>(p) % alignment != 0, 0)) {
    stop(caller, "simt-misaligned",
         misaligned_access("The thread", access != Access::read, p, bytes, alignment));
  }
  if (strength != Strength::plain) {
    note_acquire();
    worker->signalled = true;
  }
  if (global) {
    check_global(p, bytes, access, caller);
    if (__builtin_expect(looks_for_tables, 0)) check_host_table(p, bytes, access == Access::read, caller);
    const Cells cells = {shadow.words, shadow.bytes, shadow.arena, nullptr, kUnknownWriter};
    const Looked looked = look(cells, p, bytes, access, strength, caller);
    if (looked.uninitialised < looked.bytes) return;
    // The host writes to pinned and managed memory unseen.
    const PageLimits limits = shadow.pages[static_cast<std::size_t>(p - shadow.arena) >> kPageShift];
    if (limits.kind != MemoryKind::device) {
      if (access == Access::read) host_wrote(const_cast<char*>(p), bytes, 0);
      return;
    }
    stop(caller, "simt-uninit-global",
         format_text("read of uninitialised global memory\nThe thread %s %s, which nothing has written "
                     "since cudaMalloc.",
                     verb_of_read(access), name_of(p, bytes, nullptr).c_str()));
  } else {
    const Block& block = check_shared(p, bytes, access, caller);
    if (&block != current->block && strength == Strength::plain)
      use_remote_shared(block, bytes, access, caller);
    if (__builtin_expect(worker->pending_copies != 0, 0))
      check_async_wait(p, bytes, access != Access::read, caller);
    const Cells cells = {block.cells, block.byte_cells, block.shared, &block, block.first_segment};
    const Looked looked = look(cells, p, bytes, access, strength, caller);
    if (looked.uninitialised < looked.bytes) return;
    if (unwritten_pending(block)) return;
    suspect_unwritten(
        block,
        failure_of_access(
            caller, "simt-uninit-shared",
            format_text("read of uninitialised shared memory\nThe thread %s %s, which no thread of block %s "
                        "has written.",
                        verb_of_read(access), name_of(p, bytes, &block).c_str(),
                        block_name(*worker->launch, block.linear).c_str())));
  }
}

}  // namespace

// Memory that is neither the device's nor shared passes: locals, constants, and what the runtime and the
// standard library touch on a kernel's behalf (the linker may take their templates from an instrumented
// file).
void check_slowly(const void* address, std::size_t bytes, Access access, Strength strength,
                  std::size_t alignment, void* caller) {
  if (__builtin_expect(tracing, 0)) return trace_access(address, bytes, access != Access::read, caller);
  const char* p = static_cast<const char*>(address);
  if (bytes == 0 || own_work) return;
  if (!current) {
    if (!worker && in_arena(p)) {
      check_host_code(p, bytes, access, strength, caller);
    } else if (!worker && may_be_managed(p)) {
      check_managed_variable(p, bytes, access, strength, caller);
    }
    return;
  }
  settle_doubt(p, strength != Strength::plain);
  check_kernel_access(p, bytes, access, strength, alignment, caller);
}

namespace {
constexpr std::size_t kAtomicLocks = 256;
struct alignas(64) AtomicLock {
  std::atomic<bool> taken{false};
};
AtomicLock atomic_locks[kAtomicLocks];    // by address
thread_local AtomicLock* held = nullptr;  // by this worker
thread_local int atomics_under_way = 0;   // more than one: an operation whose function has another
}  // namespace

void begin_atomic(const volatile void* address) {
  if (!current || worker->launch->workers == 1) return;
  const Block& block = *current->block;  // whose shared memory other workers cannot reach
  if (static_cast<std::size_t>(static_cast<const volatile char*>(address) - block.shared) <
          block.shared_bytes ||
      ++atomics_under_way > 1)
    return;
  AtomicLock& lock = atomic_locks[reinterpret_cast<std::uintptr_t>(address) / 16 % kAtomicLocks];
  for (int tries = 0; lock.taken.exchange(true, std::memory_order_acquire); ++tries)
    if (tries > 100) sched_yield();
  held = &lock;
}
void forget_atomic() {
  atomics_under_way = 1;
  end_atomic();
  atomics_under_way = 0;
}
void end_atomic() {
  if (!held || --atomics_under_way > 0) return;
  held->taken.store(false, std::memory_order_release);
  held = nullptr;
}

void check_atomic(const volatile void* address, std::size_t bytes, AtomicKind kind, const void* place) {
  void* const caller = place ? const_cast<void*>(place) : __builtin_return_address(0);
  if (__builtin_expect(tracing, 0)) return trace_atomic(address, bytes, caller);
  begin_atomic(address);
  check_slowly(const_cast<const void*>(address), bytes,
               kind == AtomicKind::store ? Access::write : Access::update, Strength::atomic, bytes, caller);
}

std::string misaligned_access(const char* who, bool write, const char* p, std::size_t bytes,
                              std::size_t alignment) {
  const Block* block = is_shared(p) ? current->block : nullptr;
  return format_text(
      "misaligned access\n%s %s %zu bytes at %s.\nIts address must be a multiple of %zu, and is %zu past "
      "one.",
      who, write ? "writes" : "reads", bytes, name_of(p, bytes, block).c_str(), alignment,
      reinterpret_cast<std::uintptr_t>(p) % alignment);
}

std::string thread_name(const Launch& launch, std::uint64_t linear) {
  const dim3 shape = launch.block;
  if (shape.y == 1 && shape.z == 1) return std::to_string(linear);
  return format_text("(%u,%u,%u)", static_cast<unsigned>(linear % shape.x),
                     static_cast<unsigned>(linear / shape.x % shape.y),
                     static_cast<unsigned>(linear / shape.x / shape.y));
}

std::string block_name(const Launch& launch, std::uint64_t linear) {
  const dim3 grid = launch.grid;
  if (grid.y == 1 && grid.z == 1) return std::to_string(linear);
  return format_text("(%u,%u,%u)", static_cast<unsigned>(linear % grid.x),
                     static_cast<unsigned>(linear / grid.x % grid.y),
                     static_cast<unsigned>(linear / grid.x / grid.y));
}

std::string name_of(const char* p, std::size_t bytes, const Block* block) {
  if (block) return shared_name(*block, p, bytes);
  return place_in_buffer(p);
}

}  // namespace simt
