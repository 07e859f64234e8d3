// SPDX-License-Identifier: MIT
//
// Races on shared memory, in checked builds. For each byte of a block's arena the last write and the readers
// since are kept. Two accesses of different threads, one of them a write, race unless something orders them:
//
// - a barrier of the block (or any event that threads wait for) between them: the block's epoch differs;
// - for lanes of one warp, a warp collective between them: the warp's epoch differs.
//
// Epochs count every such event, also those that these two threads took no part in: a race may be missed, but
// none is reported where there is none. Threads that store the same value do not race: the order of equal
// stores shows nowhere. Atomic operations order themselves.
#include <sys/mman.h>

#include <cstdlib>

#include "checked.h"

namespace simt {
namespace {

constexpr std::uint16_t kManyThreads = 0xffff;
constexpr std::uint8_t kManyWarps = 0xff;

struct Mark {                 // one access, or several readers
  std::uint32_t block_epoch;  // 0: none
  std::uint16_t warp_epoch;
  std::uint16_t thread;  // in the block, or kManyThreads
  std::uint8_t warp;     // or kManyWarps
  void* caller;
};

struct Cell {
  Mark write, read;
};

// A store over another thread's unordered store. Whether the values differ is seen once the store has been
// done.
struct DoubtfulStore {
  const char* address = nullptr;  // null: none
  std::size_t bytes = 0;
  unsigned char before[16];
  const Block* block;
  Mark earlier;
  Failure failure;  // but for its details, which take time to find out
};

thread_local DoubtfulStore doubtful;

Cell* cells_of(Block& block) {
  if (!block.race_cells) {
    void* memory = mmap(nullptr, block.shared_bytes * sizeof(Cell), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    block.race_cells = memory;
  }
  return static_cast<Cell*>(block.race_cells);
}

bool unordered(const Mark& earlier, const Mark& now) {
  if (earlier.block_epoch != now.block_epoch || earlier.thread == now.thread) return false;
  return earlier.warp != now.warp || earlier.warp_epoch == now.warp_epoch;
}

void add_reader(Mark& readers, const Mark& now) {
  if (readers.block_epoch != now.block_epoch || readers.thread == now.thread) {
    readers = now;
  } else if (readers.warp != now.warp) {
    readers.warp = kManyWarps;
    readers.thread = kManyThreads;
  } else if (readers.warp_epoch != now.warp_epoch) {
    readers = now;  // the other lanes' reads are ordered before this one
  } else {
    readers.thread = kManyThreads;
  }
}

std::string describe(const Block& block, const Mark& mark, const char* verb) {
  std::string text;
  for (const Line& line : lines_of(mark.caller)) {
    if (!line.user) continue;
    text = shown_path(line.file) + ":" + std::to_string(line.line) + "  ";
    const std::string source = source_text(line.file, line.line);
    if (!source.empty()) text += source + "    ";
    break;
  }
  if (mark.thread == kManyThreads) return text + "several threads " + (*verb == 'r' ? "read it" : "write it");
  const uint3 t = block.threads[mark.thread].index;
  return text + format_text("thread (%u,%u,%u) %s it", t.x, t.y, t.z, verb);
}

std::string details(const Block& block, const Mark& earlier, const char* earlier_verb, const char* verb) {
  return format_text("This thread %s it.\n%s, with no __syncthreads() in between", verb,
                     describe(block, earlier, earlier_verb).c_str());
}

Failure race(void* caller) {
  return failure_of_access(caller, "simt-race-shared", "race on shared memory");
}

[[noreturn]] void stop_race(const Block& block, const Mark& earlier, const char* earlier_verb,
                            const char* verb, void* caller) {
  Failure failure = race(caller);
  failure.details = details(block, earlier, earlier_verb, verb);
  abandon(std::move(failure));
}

}  // namespace

void settle_doubtful_store() {
  if (!doubtful.address) return;
  const bool changed = std::memcmp(doubtful.address, doubtful.before, doubtful.bytes) != 0;
  doubtful.address = nullptr;
  if (!changed) return;
  doubtful.failure.details = details(*doubtful.block, doubtful.earlier, "writes", "writes");
  if (current) abandon(std::move(doubtful.failure));
  record_failure(*worker->launch, std::move(doubtful.failure));
}

void check_race(const char* p, std::size_t bytes, Access access, void* caller) {
  const Thread& thread = *current;
  Block& block = *thread.block;
  if (p < block.shared || p >= block.shared + block.shared_bytes) return;  // another block of the cluster
  const Mark now = {block.epoch, thread.warp->epoch, thread.linear,
                    static_cast<std::uint8_t>(thread.warp->id), caller};
  Cell* cell = cells_of(block) + (p - block.shared);
  for (const char* end = p + bytes; p < end; ++p, ++cell) {
    if (access == Access::read) {
      if (__builtin_expect(unordered(cell->write, now), 0))
        stop_race(block, cell->write, "writes", "reads", caller);
      add_reader(cell->read, now);
      continue;
    }
    if (__builtin_expect(unordered(cell->read, now), 0))
      stop_race(block, cell->read, "reads", "writes", caller);
    if (__builtin_expect(unordered(cell->write, now), 0) && !doubtful.address) {
      doubtful.bytes = std::min(bytes, sizeof doubtful.before);
      std::memcpy(doubtful.before, end - bytes, doubtful.bytes);
      doubtful.block = &block;
      doubtful.earlier = cell->write;
      doubtful.failure = race(caller);
      doubtful.address =
          end - bytes;  // last: the lines above may come here again, through instrumented templates
    }
    cell->write = now;
  }
}

void forget_accesses(const char* p, std::size_t bytes) {
  Block& block = *current->block;
  if (p < block.shared || p + bytes > block.shared + block.shared_bytes) return;
  Cell* cell = cells_of(block) + (p - block.shared);
  for (std::size_t i = 0; i < bytes; ++i) cell[i] = Cell();
}

}  // namespace simt
