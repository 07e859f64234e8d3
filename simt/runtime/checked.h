// SPDX-License-Identifier: MIT
//
// Checked builds: what is looked at before each access of a kernel. The common cases are decided here, inline
// in the compiler's hooks, without a call or a lock: an access of whole words within one allocation or shared
// variable, ordered after what the shadow holds. Everything else goes to check_slowly().
#pragma once

#include "shadow.h"
#include "variables.h"

namespace simt {

// An update reads and writes in one step: an atomic operation.
enum class Access : std::uint8_t { read, write, update };
// Atomic and volatile accesses do not race with each other, but volatile ones of a warp's lanes do where they
// stand for what a __syncwarp() has to order.
enum class Strength : std::uint8_t { plain, is_volatile, atomic };

// The variables that each OS thread has of its own, this one's: simt's headers use some of them. Known from the first look on.
extern __thread std::uintptr_t own_variables, own_variables_bytes;

// This OS thread's last access may have been a race; the next one tells.
extern __thread bool in_doubt;

inline bool is_builtin(std::uintptr_t p) {
  const auto in = [p](const void* variable, std::size_t bytes) {
    return p - reinterpret_cast<std::uintptr_t>(variable) < bytes;
  };
  return in(&threadIdx, sizeof threadIdx) || in(&blockIdx, sizeof blockIdx) ||
         in(&blockDim, sizeof blockDim) || in(&gridDim, sizeof gridDim);
}

// All checks of one access by a kernel or the host. `caller`: the access's place.
void check_slowly(const void* address, std::size_t bytes, Access access, Strength strength,
                  std::size_t alignment, void* caller);

// Of ld.global.nc, after the other checks: the running launch must not have written what it reads.
void check_read_only(const char* p, std::size_t bytes, void* caller);

// Until end_atomic(), no other worker's thread is between its look at an atomic operation on this address and
// the operation.
void begin_atomic(const volatile void* address);

// ---- checked_host.cpp ----
void check_host_memory(const char* p, std::size_t bytes, bool write, void* caller);  // by a kernel
void check_host_code(const char* p, std::size_t bytes, Access access, Strength strength,
                     void* caller);  // on memory of the arena
void check_managed_variable(const char* p, std::size_t bytes, Access access, Strength strength, void* caller);

// The failure of the access that called a hook from `caller`.
Failure failure_of_access(void* caller, const char* slug, const std::string& message);

// Whether one of a thread's accesses to a cell passes. Segments in [written_from, ordered) came before;
// shared memory's older ones belong to another block that used the same memory. First by the write record,
// then by those of the reads, which it updates.
__attribute__((always_inline)) inline bool written_before(Record w, std::uint32_t written_from,
                                                          std::uint32_t ordered) {
  return segment_of(w) - written_from < ordered - written_from;
}
// The read record of a cell that others have read, now that the running thread has, too. `shared`: the block
// whose shared memory it is; null: device memory.
Record merged_reads(const Block* shared, Record others, Record mine);

template <unsigned kCells, bool kShared>
__attribute__((always_inline)) inline bool note_read(Cell* cell, std::uint32_t ordered, Record mark,
                                                     void* caller) {
  const Record r = load(cell[0].read);
  Record now = 0;
  if (segment_of(r) == segment_of(mark) && !is_strong(r)) {
    if (spread_of(r) != kOneThread || lane_of(r) == lane_of(mark)) return true;
    now = r | kSeveralLanes << kSpreadShift;
  } else if (segment_of(r) < ordered) {
    now = mark | place_bits(caller);
  } else {
    // Once as many as can be have read it, one more changes nothing.
    if (is_strong(r)) return false;
    if (spread_of(r) >= (kShared ? kSeveralWarps : kSeveralBlocks)) return true;
    now = merged_reads(kShared ? current->block : nullptr, r, mark | place_bits(caller));
  }
  for (unsigned i = 0; i < kCells; ++i) store(cell[i].read, now);
  return true;
}
template <bool kShared>
inline bool pass_read(Cell& cell, std::uint32_t written_from, std::uint32_t ordered, Record mark,
                      void* caller) {
  const Record w = load(cell.write);
  if (!written_before(w, written_from, ordered) && (w ^ mark) >> kLaneShift != 0) return false;
  return note_read<1, kShared>(&cell, ordered, mark, caller);
}
inline bool pass_write(Cell& cell, std::uint32_t ordered, Record mark, void* caller) {
  const Record w = load(cell.write), r = load(cell.read);
  if (segment_of(w) >= ordered && (w ^ mark) >> kLaneShift != 0) return false;
  if (segment_of(r) >= ordered && ((r ^ mark) >> kLaneShift != 0 || spread_of(r) != kOneThread)) return false;
  store(cell.write, mark | place_bits(caller));
  return true;
}
template <unsigned kCells, Access kAccess, bool kShared>
__attribute__((noinline)) bool pass_each(Cell* cell, std::uint32_t written_from, std::uint32_t ordered,
                                         Record mark, void* caller) {
  bool passed = true;
  for (unsigned i = 0; i < kCells; ++i) {
    passed &= kAccess == Access::read ? pass_read<kShared>(cell[i], written_from, ordered, mark, caller)
                                      : pass_write(cell[i], ordered, mark, caller);
  }
  return passed;
}

// The cells of one access. Mostly all that was there came before, and the same threads have read all of it.
template <unsigned kCells, Access kAccess, bool kShared>
__attribute__((always_inline)) inline bool pass_cells(Cell* cell, std::uint32_t written_from,
                                                      std::uint32_t ordered, Record mark, void* caller) {
  bool simple = true;
  for (unsigned i = 0; i < kCells; ++i) {
    const Record w = load(cell[i].write), r = load(cell[i].read);
    simple &= kAccess == Access::read ? written_before(w, written_from, ordered) && r == load(cell[0].read)
                                      : segment_of(w) < ordered && segment_of(r) < ordered;
  }
  if (__builtin_expect(!simple, 0))
    return pass_each<kCells, kAccess, kShared>(cell, written_from, ordered, mark, caller);
  if (kAccess == Access::read) return note_read<kCells, kShared>(cell, ordered, mark, caller);
  for (unsigned i = 0; i < kCells; ++i) store(cell[i].write, mark | place_bits(caller));
  return true;
}

// Whether an allocation holds these bytes of a page.
inline bool in_one_page(std::size_t offset, std::size_t bytes) {
  const PageLimits limits = shadow.pages[offset >> kPageShift];
  const std::size_t at = offset % (1u << kPageShift);
  return at >= limits.begin && at + bytes <= limits.end;
}

// Two of these at once, by different workers, are no worse than the two accesses themselves.
inline void unsettle(std::size_t offset) {
  if (__builtin_expect(shadow.settled[offset / 16] != 0, 0))
    __atomic_store_n(&shadow.settled[offset / 16], 0, __ATOMIC_RELAXED);
}
inline bool is_settled(std::size_t offset, std::size_t bytes) {
  return __atomic_load_n(&shadow.settled[offset / 16], __ATOMIC_RELAXED) == shadow.epoch &&
         offset % 16 + bytes <= 16;
}
void settle(std::size_t offset);

// The same for the cells of one access to device memory. What has been written lies in an allocation, as
// the cells of freed memory are cleared: only a first write has to look where the allocation ends.
template <unsigned kCells, unsigned kBytes, Access kAccess>
__attribute__((always_inline)) inline bool pass_global(Cell* cell, std::size_t offset, Record mark,
                                                       void* caller) {
  const std::uint32_t ordered = shadow.ordered;
  if (kAccess == Access::write) {
    bool first = false;
    for (unsigned i = 0; i < kCells; ++i) first |= load(cell[i].write) == 0;
    if (first && __builtin_expect(!in_one_page(offset, kBytes), 0)) return false;
  }
  if (!pass_cells<kCells, kAccess, false>(cell, 1, ordered, mark, caller)) return false;
  if (kAccess == Access::write) {
    unsettle(offset);
  } else if (kBytes >= 4 && __builtin_expect(spread_of(load(cell[0].read)) == kSeveralBlocks, 0)) {
    settle(offset);
  }
  return true;
}

// An access to a part of a word that is still whole.
template <unsigned kBytes, Access kAccess>
__attribute__((noinline)) bool pass_first_part(std::size_t offset, Record mark, void* caller) {
  if (!in_one_page(offset, kBytes)) return false;
  shadow.pages[offset >> kPageShift].split = true;
  split_word(shadow.words[offset / 4], shadow.bytes + offset / 4 * 4, split_mark(nullptr));
  return pass_global<kBytes, kBytes, kAccess>(shadow.bytes + offset, offset, mark, caller);
}

inline bool may_be_managed(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - managed_range.begin < managed_range.bytes;
}
// Whether host code uses memory that is none of CUDA's, as most of its loops do.
inline bool is_hosts_own(const void* address) {
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(shadow.arena);
  return !current && offset >= shadow.arena_bytes && shadow.arena_bytes != 0 && !tracing &&
         !may_be_managed(address);
}

template <unsigned kBytes, Access kAccess>
void check_words(const void* address, std::size_t alignment, void* caller);

// Where there is no mark yet, and for misaligned accesses.
template <unsigned kBytes, Access kAccess>
__attribute__((noinline)) void check_first(const void* address, std::size_t alignment, void* caller) {
  if (own_work) return;
  if (__builtin_expect(tracing, 0)) return trace_access(address, kBytes, kAccess == Access::write, caller);
  if (current && !in_doubt && hot_mark == 0) {
    hot_mark = mark_of(*current);
    return check_words<kBytes, kAccess>(address, alignment, caller);
  }
  check_slowly(address, kBytes, kAccess, Strength::plain, alignment, caller);
}

// Shared memory and all that is neither that nor the device's. Here, too, only a first access has to look
// where the variable ends.
template <unsigned kBytes, Access kAccess>
__attribute__((noinline)) void check_elsewhere(const void* address, std::size_t alignment, void* caller) {
  constexpr bool kPart = kBytes < 4;
  const auto p = reinterpret_cast<std::uintptr_t>(address);
  const Block& block = *current->block;
  const Worker& w = *worker;
  const std::size_t at = p - reinterpret_cast<std::uintptr_t>(block.shared);
  if (at >= block.shared_bytes) {
    // Another thread's stack (of a shuffle, say), what is called from a kernel, built-in variables.
    const bool stack = p - w.stacks_begin < w.stacks_span && !is_shared(address);
    if (stack || in_module(p) || p - own_variables < own_variables_bytes || is_builtin(p)) return;
  } else if (w.pending_copies == 0 && (!kPart || load(block.cells[at / 4].write) == split_mark(&block))) {
    Cell* cell = kPart ? block.byte_cells + at : block.cells + at / 4;
    constexpr unsigned kCells = kPart ? kBytes : kBytes / 4;
    bool known = true;
    for (unsigned i = 0; i < kCells; ++i)
      known &= segment_of(load(cell[i].write)) - block.first_segment < kLastSegment - block.first_segment;
    const bool inside = known || at % 16 + kBytes <= block.valid[at / 16] ||
                        (address >= block.dynamic_begin && at + kBytes <= block.shared_bytes);
    if (__builtin_expect(inside, 1) &&
        pass_cells<kCells, kAccess, true>(cell, block.first_segment, block.ordered, hot_mark, caller))
      return;
  }
  check_slowly(address, kBytes, kAccess, Strength::plain, alignment, caller);
}

// An access of 4, 8 or 16 bytes, or of a part of a word, 1 or 2.
template <unsigned kBytes, Access kAccess>
__attribute__((always_inline)) inline void check_words(const void* address, std::size_t alignment,
                                                       void* caller) {
  const Record mark = hot_mark;
  if (__builtin_expect(mark == 0, 0) && is_hosts_own(address)) return;
  const auto p = reinterpret_cast<std::uintptr_t>(address);
  constexpr std::size_t kWhole = kBytes < 4 ? kBytes : 4;  // smaller pieces are for others
  if (__builtin_expect(mark == 0 || p % (alignment < kWhole ? kWhole : alignment) != 0, 0))
    return check_first<kBytes, kAccess>(address, alignment, caller);
  const std::size_t offset = p - reinterpret_cast<std::uintptr_t>(shadow.arena);
  if (__builtin_expect(offset < shadow.arena_bytes, 1)) {
    if (kAccess == Access::read && is_settled(offset, kBytes)) return;
    Cell* cell = shadow.words + offset / 4;
    bool passed = false;
    if (kBytes >= 4) {
      passed = pass_global<(kBytes < 4 ? 1 : kBytes / 4), kBytes, kAccess>(cell, offset, mark, caller);
    } else if (__builtin_expect(load(cell->write) == split_mark(nullptr), 1)) {
      passed = pass_global<kBytes, kBytes, kAccess>(shadow.bytes + offset, offset, mark, caller);
    } else {
      passed = pass_first_part<kBytes, kAccess>(offset, mark, caller);
    }
    if (__builtin_expect(passed, 1)) return;
    return check_slowly(address, kBytes, kAccess, Strength::plain, alignment, caller);
  }
  if (p - reinterpret_cast<std::uintptr_t>(current->stack) < shadow.stack_span) return;
  check_elsewhere<kBytes, kAccess>(address, alignment, caller);
}

}  // namespace simt
