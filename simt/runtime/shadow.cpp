// SPDX-License-Identifier: MIT
//
// The shadow of device memory, and the segments into which checked builds cut time (shadow.h).
//
// The cells lie at addresses that follow from those of the arena; untouched ones cost nothing. A freed
// allocation gives its cells back, which are "never written" again when its addresses are taken anew.
#include "shadow.h"
#include "doubts.h"
#include "operations.h"
#include "ordering.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

namespace simt {

Shadow shadow;

namespace {

constexpr std::size_t kTable = std::size_t{1} << 21;  // segments remembered
constexpr std::uint32_t kChunk = 1024;                // segments that a worker takes at once
SIMT_OWN_COUNTER std::atomic<std::uint32_t> next_chunk{kFirstSegment};
Segment* table = nullptr;
SIMT_OWN_COUNTER std::atomic<std::uint32_t> releases{0};
std::uint32_t* released = nullptr;  // by block: `releases` when one of its threads last made a fence
constexpr std::size_t kBlocks = std::size_t{1} << 32;

template <class T>
T* reserve(std::size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

// Cells take many times the memory that they stand for, and mostly all of a buffer's at once: large pages
// save most of their faults.
Cell* reserve_cells(std::size_t count) {
  Cell* cells = reserve<Cell>(count);
#ifdef MADV_HUGEPAGE
  if (cells) madvise(cells, count * sizeof(Cell), MADV_HUGEPAGE);
#endif
  return cells;
}

template <class T>
void unreserve(T* memory, std::size_t count) {
  if (memory) munmap(memory, count * sizeof(T));
}

// Gives a range of cells back: whole pages at once, what is left by hand.
void clear(Cell* cells, std::size_t count) {
  constexpr std::uintptr_t page = 64 * 1024;
  char* begin = reinterpret_cast<char*>(cells);
  char* end = reinterpret_cast<char*>(cells + count);
  char* first = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page);
  char* last = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(end) / page * page);
  if (first >= last) {
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    return;
  }
  std::memset(begin, 0, static_cast<std::size_t>(first - begin));
  madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
  std::memset(last, 0, static_cast<std::size_t>(end - last));
}

std::uint32_t take_segments(std::uint32_t count) {
  static Segment* const made =
      reserve<Segment>(kTable);  // once, whichever workers come here at the same time
  table = made;
  if (next_chunk.load() >= kLastSegment) return kLastSegment;
  return next_chunk.fetch_add(count);
}

void take_chunk(Worker& w) {
  w.next_segment = take_segments(kChunk);
  w.last_segment = w.next_segment + kChunk;
}

void new_epoch() {
  __atomic_fetch_add(&shadow.epoch, 1, __ATOMIC_RELAXED);
}

void mark_bytes(std::size_t offset, std::size_t count, Record record) {
  for (; count > 0; --count, ++offset) {
    Cell& word = shadow.words[offset / 4];
    shadow.pages[offset >> kPageShift].split = true;
    split_word(word, shadow.bytes + offset / 4 * 4, split_mark(nullptr));
    store(shadow.bytes[offset].write, record);
  }
}

}  // namespace

void split_word(Cell& word, Cell* bytes, Record mark) {
  constexpr Record kBusy = ~Record{0};
  for (Record whole = load(word.write); whole != mark;) {
    if (whole == kBusy) {
      whole = load(word.write);
    } else if (__atomic_compare_exchange_n(&word.write, &whole, kBusy, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE)) {
      // Nothing is in the cells of bytes of a word that nobody has touched.
      if (whole != 0 || load(word.read) != 0) std::fill_n(bytes, 4, Cell{whole, load(word.read)});
      __atomic_store_n(&word.write, mark, __ATOMIC_RELEASE);
      return;
    }
  }
}

bool join_word(Cell& word, const Cell* bytes, const Block* shared, Record mark) {
  const std::uint32_t ordered = shared ? shared->ordered : shadow.ordered;
  const std::uint32_t written_from = shared ? shared->first_segment : 1;
  const auto operation_of = [](Record r) {
    const Segment* s = find_segment(segment_of(r));
    return s ? s->operation : 0;
  };
  Record first = load(bytes[0].write);
  for (int i = 0; i < 4; ++i) {
    const Record w = load(bytes[i].write);
    if (segment_of(w) < written_from || segment_of(w) >= ordered ||
        segment_of(load(bytes[i].read)) >= ordered)
      return false;
    if (w != first && !shared && operation_of(w) != operation_of(first)) return false;
  }
  store(word.read, 0);
  return __atomic_compare_exchange_n(&word.write, &mark, first, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool map_shadow(char* arena, std::size_t bytes) {
  Shadow s;
  const std::size_t pages = bytes >> kPageShift;
  s.pages = reserve<PageLimits>(pages);
  s.words = reserve_cells(bytes / 4);
  s.bytes = reserve_cells(bytes);
  s.settled = reserve<std::uint32_t>(bytes / 16);
  if (!s.pages || !s.words || !s.bytes || !s.settled) {
    unreserve(s.pages, pages);
    unreserve(s.words, bytes / 4);
    unreserve(s.bytes, bytes);
    unreserve(s.settled, bytes / 16);
    return false;
  }
  s.arena = arena;
  s.arena_bytes = bytes;
  shadow = s;
  return true;
}

bool in_shadow(const void* address) {
  const auto p = reinterpret_cast<std::uintptr_t>(address);
  const auto in = [p](const auto* begin, std::size_t count) {
    return p - reinterpret_cast<std::uintptr_t>(begin) < count * sizeof *begin;
  };
  const std::size_t bytes = shadow.arena_bytes;
  return in(shadow.pages, bytes >> kPageShift) || in(shadow.words, bytes / 4) || in(shadow.bytes, bytes) ||
         in(shadow.settled, bytes / 16);
}

void shadow_allocated(const char* data, std::size_t bytes, MemoryKind kind) {
  if (!shadow.arena_bytes) return;
  const auto offset = static_cast<std::size_t>(data - shadow.arena);
  for (std::size_t at = offset; at < offset + bytes;) {
    const std::size_t page = at >> kPageShift, start = page << kPageShift;
    const std::size_t end = std::min(offset + bytes, start + (std::size_t{1} << kPageShift));
    shadow.pages[page] = {static_cast<std::uint16_t>(at - start), static_cast<std::uint16_t>(end - start),
                          kind, false};
    at = end;
  }
}

void shadow_forget(const char* data, std::size_t bytes) {
  if (!shadow.arena_bytes) return;
  const auto offset = static_cast<std::size_t>(data - shadow.arena);
  new_epoch();
  bool split = false;
  for (std::size_t page = offset >> kPageShift; page <= (offset + bytes - 1) >> kPageShift; ++page)
    split |= shadow.pages[page].split;
  const std::size_t first = offset / 4 * 4, count = (offset + bytes + 3) / 4 * 4 - first;
  clear(shadow.words + first / 4, count / 4);
  if (split) clear(shadow.bytes + first, count);
}

void shadow_released(const char* data, std::size_t bytes) {
  if (!shadow.arena_bytes) return;
  shadow_forget(data, bytes);
  const auto offset = static_cast<std::size_t>(data - shadow.arena);
  for (std::size_t page = offset >> kPageShift; page <= (offset + bytes - 1) >> kPageShift; ++page)
    shadow.pages[page] = {};
}

Cell* new_shared_cells(std::size_t count) {
  Cell* cells = reserve<Cell>(count);
  if (!cells) std::abort();
  return cells;
}

// ---- segments ----

void new_segment(Warp& warp) {
  Worker& w = *worker;
  const Block& block = *warp.threads->block;
  if (w.next_segment == w.last_segment) take_chunk(w);
  const std::uint32_t id = w.next_segment++;
  Segment& s = table[id % kTable];
  s.block = static_cast<std::uint32_t>(block.linear);
  s.releases = releases.load(std::memory_order_relaxed);
  s.wide = w.wide;
  s.operation = w.launch->number;
  s.warp_epoch = warp.epoch;
  s.worker = static_cast<std::uint16_t>(w.number);
  s.warp = static_cast<std::uint8_t>(warp.id);
  s.host = false;
  __atomic_store_n(&s.id, id, __ATOMIC_RELEASE);
  warp.segment = id;
}

const Segment* find_segment(std::uint32_t id) {
  if (!table || id < kFirstSegment || id >= kLastSegment) return nullptr;
  const Segment& s = table[id % kTable];
  return __atomic_load_n(&s.id, __ATOMIC_ACQUIRE) == id ? &s : nullptr;
}

void* place_of(Record record) {
  const Record place = record & kPlaceMask;
  return place ? const_cast<char*>(module_begin) + place : nullptr;
}

void begin_segments(Worker& w) {
  take_chunk(w);
  shadow.stack_span = kStackGuard + options().stack_bytes;
  for (Block* block : w.resident) order_block(w, *block);
}

void order_block(Worker& w, Block& block) {
  block.ordered = w.next_segment;
  if (block.looked) block.acquired = releases.load();
  settle_block(block);
  for (Warp& warp : block.warps) warp.segment = 0;
  hot_mark = 0;
}

void order_resident(Worker& w) {
  if (!checked_build) return;
  forget_unsynced();
  ++w.wide;
  for (Block* block : w.resident) order_block(w, *block);
}

void order_grid(Launch&) {
  if (!checked_build) return;
  shadow.ordered = next_chunk.load();
  new_epoch();
}

namespace {

// Operations that have run lately, in that order; older ones pass as ordered before all that follows.
struct Ran {
  std::uint64_t number;
  std::uint32_t first;  // segment
  const char* kernel;   // null: a copy or fill
};
constexpr std::size_t kRemembered = 64;
// One operation runs at a time. Never destroyed: kernels may still run when the program exits.
std::deque<Ran>& ran() {
  static auto* operations = new std::deque<Ran>;
  return *operations;
}

void note_ran(const Ran& operation) {
  if (!ran().empty() && ran().back().number == operation.number) return;
  if (ran().size() == kRemembered) ran().pop_front();
  ran().push_back(operation);
}

// The first segment that may not be ordered before the operation that runs, nor before `overlapped`'s end.
std::uint32_t first_unordered(std::uint64_t number, std::uint64_t overlapped = 0) {
  std::uint32_t first = next_chunk.load();
  for (const Ran& other : ran()) {
    if (other.number == number) continue;
    if (other.number == overlapped || !happens_before(other.number, number))
      first = std::min(first, other.first);
  }
  return first;
}

}  // namespace

void order_launch(const Launch& launch) {
  shadow.ordered = first_unordered(launch.number, launch.overlapped);
  new_epoch();
  shadow.launch_first = next_chunk.load();
  note_ran({launch.number, next_chunk.load(), launch.kernel->name});
}

const char* kernel_of_operation(std::uint64_t number) {
  for (const Ran& other : ran())
    if (other.number == number) return other.kernel;
  return nullptr;
}

bool host_may_use(const void* data, std::size_t bytes, std::uint64_t number, std::string* kernel,
                  void** place) {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(data) - shadow.arena);
  const std::uint32_t unordered = first_unordered(number);
  if (!shadow.arena_bytes || offset >= shadow.arena_bytes || unordered == next_chunk.load()) return true;
  for (std::size_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    const Record w = shadow.words[word].write;
    const Segment* s = segment_of(w) < unordered ? nullptr : find_segment(segment_of(w));
    if (!s || s->host || s->operation == number || happens_before(s->operation, number)) continue;
    const char* name = kernel_of_operation(s->operation);
    *kernel = name ? name : "a kernel";
    *place = place_of(w);
    return false;
  }
  return true;
}

// ---- kernels that may overlap ----

void wait_for_kernel_before() {
  if (!checked_build || !current) return;
  current->block->has_waited = true;
  hot_mark = 0;
}

// ---- fences and flags ----

// A fence may publish all that the running block has done; the warp's later accesses are another segment's.
void note_release() {
  if (!current) return;
  static std::uint32_t* const made = reserve<std::uint32_t>(kBlocks);  // once: see take_segments()
  released = made;
  const std::uint32_t now = releases.fetch_add(1) + 1;
  if (released) released[static_cast<std::uint32_t>(current->block->linear)] = now;
  current->warp->segment = 0;
  hot_mark = 0;
}

void note_acquire() {
  if (current) current->block->looked = true;
}

// Whether a chain of fences and flags may order the segment before the running thread: its block has made a
// fence since, and later the running block has looked at a flag. (Whether it was the same chain is not
// known.)
bool may_be_published(const Segment& earlier, bool any_block) {
  Block& block = *current->block;
  if (block.looked) block.acquired = releases.load();
  if (block.acquired <= earlier.releases) return false;
  return any_block || (released && released[earlier.block] > earlier.releases);
}

void host_wrote(void* data, std::size_t bytes, std::uint64_t number) {
  const auto offset = static_cast<std::size_t>(static_cast<char*>(data) - shadow.arena);
  if (!shadow.arena_bytes || offset >= shadow.arena_bytes || bytes == 0) return;
  const std::uint32_t id = take_segments(1);
  Segment& s = table[id % kTable];
  s = {};
  s.host = true;
  s.operation = number;
  __atomic_store_n(&s.id, id, __ATOMIC_RELEASE);
  if (number) note_ran({number, id, nullptr});
  const Record record = Record{id} << kSegmentShift;
  const std::size_t first = std::min((offset + 3) / 4 * 4, offset + bytes);
  const std::size_t last = std::max(first, (offset + bytes) / 4 * 4);
  mark_bytes(offset, first - offset, record);
  for (std::size_t word = first / 4; word < last / 4; ++word) shadow.words[word].write = record;
  mark_bytes(last, offset + bytes - last, record);
}

}  // namespace simt
