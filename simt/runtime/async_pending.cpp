// SPDX-License-Identifier: MIT
//
// Checked builds: which bytes of shared memory asynchronous copies own. From a copy's start until a thread
// has waited for it, nobody may read or write its destination; what a copy reads, nobody may write. A copy
// that a barrier counts stays an owner even after it has landed, until a thread has seen that phase end:
// landing was luck, the wait is what the program may rely on. And bulk copies that read what threads have
// written without a fence between the two.
#include <sys/mman.h>

#include <cstdlib>

#include "async.h"
#include "checked_races.h"
#include "copies_under_way.h"
#include "trace_hooks.h"
#include "warpgroup_products.h"

namespace simt {
namespace {

constexpr std::size_t kCell = 4;  // bytes: no copy is shorter

std::string shown_place(void* caller) {
  for (const Line& line : lines_of(caller)) {
    if (!line.user) continue;
    const std::string source = source_text(line.file, line.line);
    return shown_path(line.file) + ":" + std::to_string(line.line) + "  " + source +
           (source.empty() ? "" : "    ");
  }
  return "";
}

void release(Block& block, std::uint32_t number) {
  PendingCopy& copy = block.async->pending[number - 1];
  const std::size_t end = (copy.offset + copy.bytes + kCell - 1) / kCell;
  for (std::size_t i = copy.offset / kCell; i < end; ++i)
    if (block.async->owner[i] == number) block.async->owner[i] = 0;
  copy.bytes = 0;
  block.async->free_pending.push_back(number);
  --worker->pending_copies;
}

const PendingCopy* find(const Block& block, const char* p, std::size_t bytes, bool also_sources) {
  if (!block.async || !block.async->owner || p < block.shared || p >= block.shared + block.shared_bytes)
    return nullptr;
  const auto offset = static_cast<std::size_t>(p - block.shared);
  for (std::size_t i = offset / kCell; i <= (offset + bytes - 1) / kCell; ++i) {
    if (const std::uint32_t number = block.async->owner[i]) {
      const PendingCopy& copy = block.async->pending[number - 1];
      if (!copy.source || also_sources) return &copy;
    }
  }
  return nullptr;
}

Failure unfinished(const char* title, void* caller) {
  Failure failure = failure_here("simt-async-wait", title);
  failure.frames = {caller};
  return failure;
}

// An array with an element for each cell of the block's arena; pages that nobody touches cost nothing.
template <class T>
T* array_of_cells(const Block& block) {
  void* memory = mmap(nullptr, block.shared_bytes / kCell * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<T*>(memory);
}

// The last write to a cell that no fence of the block lies behind; 0: there is none.
Record unfenced_write(const Block& block, std::size_t cell) {
  const auto late = [&](Record w) {
    return segment_of(w) >= block.proxy_fenced && segment_of(w) < kLastSegment;
  };
  const Record word = load(block.cells[cell].write);
  if (word != split_mark(&block)) {
    const bool engine = block.async && block.async->engine && block.async->engine[cell] == word;
    return late(word) && !engine ? word : 0;
  }
  for (std::size_t i = cell * kCell; i < (cell + 1) * kCell; ++i)
    if (late(load(block.byte_cells[i].write))) return load(block.byte_cells[i].write);
  return 0;
}

}  // namespace

std::uint32_t add_pending(Block& block, const void* p, std::size_t bytes, const std::uint64_t* barrier,
                          bool source, void* caller) {
  if (!checked_build || bytes == 0) return 0;
  AsyncCopies& async = async_copies(block);
  if (!async.owner) async.owner = array_of_cells<std::uint32_t>(block);
  if (async.free_pending.empty()) {
    async.pending.emplace_back();
    async.free_pending.push_back(static_cast<std::uint32_t>(async.pending.size()));
  }
  const std::uint32_t number = async.free_pending.back();
  async.free_pending.pop_back();
  const auto offset = static_cast<std::uint32_t>(static_cast<const char*>(p) - block.shared);
  async.pending[number - 1] = {
      caller,          barrier,      0, false, source, offset, static_cast<std::uint32_t>(bytes),
      current->linear, block.ordered};
  for (std::size_t i = offset / kCell; i <= (offset + bytes - 1) / kCell; ++i) async.owner[i] = number;
  ++worker->pending_copies;
  return number;
}

void landed_pending(Block& block, std::uint32_t number, const std::uint64_t* barrier) {
  if (number == 0) return;
  PendingCopy& copy = block.async->pending[number - 1];
  copy.landed = true;
  copy.barrier = barrier;
  copy.parity = static_cast<std::uint8_t>(mbarrier_parity(barrier));
}

void remove_pending(Block& block, std::uint32_t number) {
  if (number != 0) release(block, number);
}

void* caller_before_barrier(const Block& block, std::uint32_t number) {
  if (number == 0) return nullptr;
  const PendingCopy& copy = block.async->pending[number - 1];
  return copy.ordered != block.ordered ? copy.caller : nullptr;
}

void note_late_wait(Block& block, const void* p, std::size_t bytes, void* caller) {
  AsyncCopies& async = async_copies(block);
  if (!async.late) async.late = array_of_cells<AsyncCopies::LateWait>(block);
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(p) - block.shared);
  for (std::size_t i = offset / kCell; i <= (offset + bytes - 1) / kCell; ++i)
    async.late[i] = {load(block.cells[i].write), caller};
}

void* copy_waited_for_late(const Block& block, const char* p, std::uint64_t record) {
  if (!block.async || !block.async->late || p < block.shared || p >= block.shared + block.shared_bytes)
    return nullptr;
  const AsyncCopies::LateWait& wait = block.async->late[static_cast<std::size_t>(p - block.shared) / kCell];
  return wait.record == record ? wait.caller : nullptr;
}

void observed_phase(const std::uint64_t* barrier, unsigned parity) {
  if (worker->pending_copies == 0) return;
  for (Block* block : worker->resident) {
    if (!block->async) continue;
    for (std::uint32_t i = 0; i < block->async->pending.size(); ++i) {
      const PendingCopy& copy = block->async->pending[i];
      if (copy.bytes > 0 && copy.landed && copy.barrier == barrier && copy.parity == parity)
        release(*block, i + 1);
    }
  }
}

bool async_pending(const Block& block, const void* p, std::size_t bytes) {
  return find(block, static_cast<const char*>(p), bytes, false) != nullptr;
}

void check_async_wait(const char* p, std::size_t bytes, bool write, void* caller) {
  const Block* block = block_of_shared(p);
  void* const product = block && write ? product_that_reads(*block, p, bytes) : nullptr;
  if (product) {
    abandon(failure_of_access(caller, "simt-async-wait",
                              format_text("written before the wait for a product of a warpgroup\nThis thread "
                                          "writes it.\n%sreads it, at any "
                                          "time until its warps' wgmma.wait_group.",
                                          shown_place(product).c_str())));
  }
  const PendingCopy* copy = block ? find(*block, p, bytes, write) : nullptr;
  if (!copy) return;
  const uint3 t = block->threads[copy->thread].index;
  const char* const what =
      copy->source ? "an asynchronous copy from shared memory" : "an asynchronous copy to shared memory";
  abandon(failure_of_access(
      caller, "simt-async-wait",
      format_text(
          "%s before the wait for %s\nThis thread %s it.\n%sthread (%u,%u,%u) copies %s it, and nobody has "
          "waited for %s",
          write ? "written" : "read", what, write ? "writes" : "reads", shown_place(copy->caller).c_str(),
          t.x, t.y, t.z, copy->source ? "from" : "to",
          copy->barrier ? "the end of its mbarrier's phase" : "its group")));
}

void note_engine_write(Block& block, const void* p, std::size_t bytes) {
  if (!checked_build || tracing || bytes == 0) return;
  AsyncCopies& async = async_copies(block);
  if (!async.engine) async.engine = array_of_cells<std::uint64_t>(block);
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(p) - block.shared);
  for (std::size_t i = offset / kCell; i <= (offset + bytes - 1) / kCell; ++i)
    async.engine[i] = load(block.cells[i].write);
}

// A fence by any thread counts for all that the block has written so far: who wrote may have been ordered before it in ways that
// nobody follows here. So what is missed is a fence by too few threads, and what is reported lacks one altogether.
void fence_proxy_async() {
  if (!checked_build || !current) return;
  current->block->proxy_fenced = worker->next_segment;
  current->warp->segment = 0;  // what the warp writes from now on is behind the fence
  hot_mark = 0;
}

void check_proxy_fence(const Block& block, const void* p, std::size_t bytes, const char* operation,
                       void* caller) {
  if (!checked_build || tracing || bytes == 0) return;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(p) - block.shared);
  for (std::size_t i = offset / kCell; i <= (offset + bytes - 1) / kCell; ++i) {
    const Record write = unfenced_write(block, i);
    if (write == 0) continue;
    const Segment* s = find_segment(segment_of(write));
    const std::string who = s ? "thread " + thread_name(*worker->launch, s->warp * 32u + lane_of(write))
                              : std::string("a thread");
    abandon(failure_of_access(caller, "simt-proxy-fence",
                              format_text("%s reads what a thread has written, and no fence.proxy.async came "
                                          "between\n%s%s writes %s, which the "
                                          "copy engine may not see yet.\nEach thread that has written needs "
                                          "the fence, before the barrier that "
                                          "the copy comes after.",
                                          operation, shown_place(place_of(write)).c_str(), who.c_str(),
                                          name_of(block.shared + i * kCell, kCell, &block).c_str())));
  }
}

void report_unfinished(const Block& block) {
  if (!block.async || worker->pending_copies == 0) return;
  for (const PendingCopy& copy : block.async->pending) {
    if (copy.bytes == 0) continue;
    Failure failure =
        unfinished("a block ends with an asynchronous copy that no thread has waited for", copy.caller);
    failure.has_thread = true;
    failure.block = block.index;
    failure.thread = block.threads[copy.thread].index;
    record_failure(*worker->launch, std::move(failure));
    return;
  }
}

void report_unfinished_stores(const ThreadCopies& own) {
  if (!checked_build) return;
  void* caller = !own.bulk.empty() ? own.bulk.front().caller : nullptr;
  for (const auto& group : own.bulk_groups)
    for (const ThreadCopies::BulkStore& store : group)
      if (!caller && store.kept.empty()) caller = store.caller;
  if (!caller) return;
  record_failure(
      *worker->launch,
      unfinished("a thread returns before its bulk copies have read shared memory\n"
                 "cp.async.bulk.wait_group.read must come before: the block's shared memory ends with "
                 "its threads.",
                 caller));
}

}  // namespace simt
