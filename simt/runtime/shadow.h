// SPDX-License-Identifier: MIT
//
// The shadow that checked builds keep of device and shared memory: who wrote and who read last, in a cell for
// each 4 bytes, and for each byte where single bytes were written. From it come races, uninitialised reads
// and missing orders between streams.
//
// Time is cut into segments. One segment is what one warp does between two events that order its lanes (a
// barrier, __syncwarp); its number is larger than those of all that were ordered before it by barriers, so
// most questions are one comparison. A table says for recent segments who ran them.
#pragma once

#include "module.h"
#include "workers.h"

namespace simt {

// A record of an access: segment, lane, whether it was atomic or volatile, by whom else it was made, and
// where (the low bits of the return address into the program; 0: unknown).
using Record = std::uint64_t;
constexpr unsigned kSegmentShift = 32, kLaneShift = 27, kStrongShift = 26, kSpreadShift = 24;
constexpr Record kStrong = Record{1} << kStrongShift;
constexpr Record kPlaceMask = (Record{1} << kSpreadShift) - 1;
enum Spread : Record { kOneThread, kSeveralLanes, kSeveralWarps, kSeveralBlocks };

inline std::uint32_t segment_of(Record r) {
  return static_cast<std::uint32_t>(r >> kSegmentShift);
}
inline unsigned lane_of(Record r) {
  return r >> kLaneShift & 31;
}
inline Record spread_of(Record r) {
  return r >> kSpreadShift & 3;
}
inline bool is_strong(Record r) {
  return r & kStrong;
}

// Segment 0: never written. 1: written, nobody knows by whom. The largest: the word's bytes have cells of
// their own.
constexpr std::uint32_t kUnknownWriter = 1, kFirstSegment = 2, kSplit = ~0u;
// From here on segments are used up: nothing is called a race any more.
constexpr std::uint32_t kLastSegment = 0xf0000000u;

struct Cell {
  Record write, read;
};

// What the write record of a word says whose bytes have cells of their own; of shared memory, only while
// this block uses it.
inline Record split_mark(const Block* block) {
  return Record{kSplit} << kSegmentShift | (block ? block->first_segment : 0);
}
// Gives a word's bytes cells of their own; another worker may try the same. `mark`: of words so split.
void split_word(Cell& word, Cell* bytes, Record mark);
// The other way round, where one operation wrote all four bytes and all that has touched them is ordered
// before what the running thread does. `shared`: the block whose shared memory it is, null: device memory.
bool join_word(Cell& word, const Cell* bytes, const Block* shared, Record mark);

// Who ran a segment. The table is a ring: of segments long past nothing is known, and they pass as ordered.
struct Segment {
  std::uint32_t id;
  std::uint32_t block;      // linear in the grid, its low bits
  std::uint32_t releases;   // fences of the process before it
  std::uint32_t wide;       // Worker::wide
  std::uint64_t operation;  // Launch::number, or a copy's
  std::uint32_t warp_epoch;
  std::uint16_t worker;
  std::uint8_t warp;
  bool host;  // a copy or fill by the host
};

struct PageLimits {  // the bytes of a 4 KiB page that an allocation holds
  std::uint16_t begin, end;
  MemoryKind kind;
  bool split;  // some of its bytes have had cells of their own
};
constexpr unsigned kPageShift = 12;

// All that a hook reads about device memory.
struct alignas(64) Shadow {
  char* arena = nullptr;
  std::size_t arena_bytes = 0;  // 0: there is none, all else is null
  PageLimits* pages = nullptr;
  Cell* words = nullptr;
  Cell* bytes = nullptr;
  std::uint32_t ordered = kFirstSegment;  // segments below came before all that runs now
  std::uint32_t epoch = 1;                // changes with `ordered`, with each launch, and with what is freed
  // Of each 16 bytes the epoch in which all was written before, and threads of several blocks have read all
  // of it: one more read changes nothing. Saves the look at their cells, which take many times the caches.
  std::uint32_t* settled = nullptr;
  std::uint32_t launch_first = 0;  // first segment of the running launch
  std::size_t stack_span = 0;      // of a thread, guard pages included
};
extern Shadow shadow;

// ---- shadow.cpp ----
bool map_shadow(char* arena, std::size_t bytes);  // false: no addresses left
bool in_shadow(const void* address);
void shadow_allocated(const char* data, std::size_t bytes, MemoryKind kind);
void shadow_released(const char* data, std::size_t bytes);
void shadow_forget(const char* data, std::size_t bytes);  // the memory is as if just allocated
Cell* new_shared_cells(std::size_t count);
void new_segment(Warp& warp);
const Segment* find_segment(std::uint32_t id);  // null: forgotten
void* place_of(Record record);                  // return address, or null
inline Record place_bits(void* caller) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(caller) - reinterpret_cast<std::uintptr_t>(module_begin);
  return offset <= kPlaceMask ? offset : 0;
}

bool may_be_published(const Segment& earlier, bool any_block);

// The running thread's mark.
inline Record mark_of(const Thread& thread) {
  Warp& warp = *thread.warp;
  if (__builtin_expect(warp.segment == 0, 0)) new_segment(warp);
  return Record{warp.segment} << kSegmentShift | Record{thread.lane} << kLaneShift;
}

inline Record load(const Record& r) {
  return __atomic_load_n(&r, __ATOMIC_RELAXED);
}
inline void store(Record& r, Record value) {
  __atomic_store_n(&r, value, __ATOMIC_RELAXED);
}

}  // namespace simt
