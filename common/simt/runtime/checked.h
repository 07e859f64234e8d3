// SPDX-License-Identifier: MIT
//
// Checked builds: what is looked at before each access of a kernel. The common cases are decided here, inline
// in the compiler's hooks, without a call or a lock: an access of whole words within one allocation or shared
// variable, ordered after what the shadow holds. Everything else goes to check_slowly().
#pragma once

#include "shadow.h"

namespace simt {

enum class Access : std::uint8_t { read, write };

// This OS thread's last access may have been a race; the next one tells.
extern __thread bool in_doubt;

// All checks of one access by a kernel or the host. `strong`: atomic or volatile. `caller`: the access's
// place.
void check_slowly(const void* address, std::size_t bytes, Access access, bool strong, std::size_t alignment,
                  void* caller);

// ---- checked_host.cpp ----
void check_host_memory(const char* p, std::size_t bytes, bool write, void* caller);  // by a kernel
void check_host_code(const char* p, std::size_t bytes, bool write, void* caller);    // on device memory

// The failure of the access that called a hook from `caller`.
Failure failure_of_access(void* caller, const char* slug, const std::string& message);

// Variables of the program, constants.
inline bool in_program(std::uintptr_t p) {
  extern char program_begin[] __asm__("__executable_start"), program_end[] __asm__("end");
  return p >= reinterpret_cast<std::uintptr_t>(program_begin) &&
         p < reinterpret_cast<std::uintptr_t>(program_end);
}

// Whether one of a thread's accesses to whole words passes. Segments in [written_from, ordered) came before;
// shared memory's older ones belong to another block that used the same memory.
template <bool kShared>
inline bool pass_read(Cell& cell, std::uint32_t written_from, std::uint32_t ordered, Record mark,
                      void* caller) {
  const Record w = load(cell.write);
  if (__builtin_expect(segment_of(w) - written_from >= ordered - written_from, 0) &&
      (w ^ mark) >> kLaneShift != 0)
    return false;
  const Record r = load(cell.read);
  if (segment_of(r) == segment_of(mark) && !is_strong(r)) {
    if (spread_of(r) == kOneThread && lane_of(r) != lane_of(mark))
      store(cell.read, r | kSeveralLanes << kSpreadShift);
    return true;
  }
  if (segment_of(r) < ordered) {
    store(cell.read, mark | place_bits(caller));
    return true;
  }
  // Once as many as can be have read it, one more changes nothing.
  return spread_of(r) >= (kShared ? kSeveralWarps : kSeveralBlocks) && !is_strong(r);
}
inline bool pass_write(Cell& cell, std::uint32_t ordered, Record mark, void* caller) {
  const Record w = load(cell.write), r = load(cell.read);
  if (__builtin_expect(segment_of(w) >= ordered, 0) && (w ^ mark) >> kLaneShift != 0) return false;
  if (segment_of(r) >= ordered && ((r ^ mark) >> kLaneShift != 0 || spread_of(r) != kOneThread)) return false;
  store(cell.write, mark | place_bits(caller));
  return true;
}

template <unsigned kBytes, Access kAccess>
__attribute__((always_inline)) inline void check_words(const void* address, std::size_t alignment,
                                                       void* caller) {
  if (__builtin_expect(tracing, 0)) return trace_access(address, kBytes, kAccess == Access::write, caller);
  const Thread* thread = current;
  const auto p = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t offset = p - reinterpret_cast<std::uintptr_t>(shadow.arena);
  if (__builtin_expect(!thread || in_doubt || p % (alignment < 4 ? 4 : alignment) != 0, 0)) {
    const bool hosts_own = !thread && offset >= shadow.arena_bytes && shadow.arena_bytes != 0;
    return hosts_own ? void() : check_slowly(address, kBytes, kAccess, false, alignment, caller);
  }
  if (offset < shadow.arena_bytes) {
    const PageLimits limits = shadow.pages[offset >> kPageShift];
    const std::size_t at = offset % (1u << kPageShift);
    if (at >= limits.begin && at + kBytes <= limits.end) {
      Cell* cell = shadow.words + offset / 4;
      const std::uint32_t ordered = shadow.ordered;
      const Record mark = mark_of(*thread);
      bool passed = true;
      for (unsigned i = 0; i < kBytes / 4; ++i) {
        passed &= kAccess == Access::read ? pass_read<false>(cell[i], 1, ordered, mark, caller)
                                          : pass_write(cell[i], ordered, mark, caller);
      }
      if (__builtin_expect(passed, 1)) return;
    }
    return check_slowly(address, kBytes, kAccess, false, alignment, caller);
  }
  const Block& block = *thread->block;
  const std::size_t in_arena = p - reinterpret_cast<std::uintptr_t>(block.shared);
  if (in_arena < block.shared_bytes) {
    if (worker->pending_copies != 0) return check_slowly(address, kBytes, kAccess, false, alignment, caller);
    if (in_arena % 16 + kBytes <= block.valid[in_arena / 16] ||
        (address >= block.dynamic_begin && in_arena + kBytes <= block.shared_bytes)) {
      Cell* cell = block.cells + in_arena / 4;
      const Record mark = mark_of(*thread);
      bool passed = true;
      for (unsigned i = 0; i < kBytes / 4; ++i) {
        passed &= kAccess == Access::read
                      ? pass_read<true>(cell[i], block.first_segment, block.ordered, mark, caller)
                      : pass_write(cell[i], block.ordered, mark, caller);
      }
      if (__builtin_expect(passed, 1)) return;
    }
    return check_slowly(address, kBytes, kAccess, false, alignment, caller);
  }
  // The thread's own stack, and what is called from a kernel there.
  if (p - reinterpret_cast<std::uintptr_t>(thread->stack) < shadow.stack_span || in_program(p)) return;
  check_slowly(address, kBytes, kAccess, false, alignment, caller);
}

}  // namespace simt
