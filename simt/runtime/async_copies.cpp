// SPDX-License-Identifier: MIT
//
// cp.async and its groups, and the queue of copies that barriers count.
#include "async.h"
#include "copies_under_way.h"
#include "device_memory.h"
#include "permutation.h"
#include "warpgroup_products.h"

#include <algorithm>

namespace simt {

__thread void* interpreted_caller;

namespace {

ThreadCopies& own_copies(const char* operation) {
  if (!current) fail("simt-launch", "%s outside a kernel", operation);
  return async_copies(*current->block).threads[current->linear];
}

// The thread's copies up to this number land. `barrier`: one that is told when they have.
void land(Block& block, ThreadCopies& own, std::uint64_t end, const std::uint64_t* barrier) {
  std::size_t count = 0;
  for (; count < own.copies.size() && own.landed < end; ++count, ++own.landed) {
    const ThreadCopies::Copy& copy = own.copies[count];
    std::memcpy(copy.to, copy.from, copy.source_bytes);
    std::memset(copy.to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
    own.under_way -= copy.bytes;
    if (barrier) {
      landed_pending(block, copy.pending, copy.barrier ? copy.barrier : barrier);
    } else {
      remove_pending(block, copy.pending);
    }
  }
  own.copies.erase(own.copies.begin(), own.copies.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t groups = 0;
  while (groups < own.group_ends.size() && own.group_ends[groups] <= own.landed) ++groups;
  own.group_ends.erase(own.group_ends.begin(), own.group_ends.begin() + static_cast<std::ptrdiff_t>(groups));
}

// What was asked for early is what is under way at a wait.
void count_wait(ThreadCopies& own) {
  if (own.under_way == 0) return;
  ++own.waits;
  own.waited += own.under_way;
}

// Whoever reads what the running thread has just waited for must be ordered after this wait.
void land_own(ThreadCopies& own, std::uint64_t end, void* caller) {
  if (own.landed >= end) return;
  count_wait(own);
  struct Written {
    char* to;
    std::size_t bytes;
    void* late;  // who copies, if the wait comes behind the next barrier
  };
  Block& block = *current->block;
  std::vector<Written> written;
  if (checked_build) {
    const auto count = std::min<std::size_t>(end - own.landed, own.copies.size());
    for (std::size_t i = 0; i < count; ++i) {
      const ThreadCopies::Copy& copy = own.copies[i];
      written.push_back({copy.to, copy.bytes, caller_before_barrier(block, copy.pending)});
    }
  }
  land(block, own, end, nullptr);
  for (const Written& w : written) {
    checked_write(w.to, w.bytes, caller);
    if (w.late && !tracing) note_late_wait(block, w.to, w.bytes, w.late);
  }
}

std::uint64_t issued(const ThreadCopies& own) {
  return own.landed + own.copies.size();
}

}  // namespace

AsyncCopies& async_copies(Block& block) {
  if (!block.async) block.async = new AsyncCopies;
  if (block.async->threads.size() < block.size) block.async->threads.resize(block.size);
  return *block.async;
}

Block* block_of_shared(const void* p) {
  const char* address = static_cast<const char*>(p);
  const auto holds = [address](const Block& b) {
    return b.shared && address >= b.shared && address < b.shared + b.shared_bytes;
  };
  if (current && holds(*current->block)) return current->block;
  for (Block* block : worker->resident)
    if (holds(*block)) return block;
  return nullptr;
}

void check_shared_range(const Block& block, const void* p, std::size_t bytes, std::size_t alignment,
                        const char* operation) {
  const char* address = static_cast<const char*>(p);
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    fail("simt-misaligned", "%s: the address in shared memory must be a multiple of %zu\nIt is %zu past one.",
         operation, alignment, reinterpret_cast<std::uintptr_t>(p) % alignment);
  }
  if (address < block.shared || address + bytes > block.shared + block.shared_bytes) {
    fail("simt-oob-shared", "%s: %s at %p are not in the block's shared memory", operation,
         bytes_text(bytes).c_str(), p);
  }
}

void check_global_range(const void* p, std::size_t bytes, std::size_t alignment, const char* operation) {
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    fail("simt-misaligned", "%s: the address in global memory must be a multiple of %zu\nIt is %zu past one.",
         operation, alignment, reinterpret_cast<std::uintptr_t>(p) % alignment);
  }
  Allocation found;
  if (bytes == 0 || !in_arena(p)) return;
  const char* address = static_cast<const char*>(p);
  if (find_allocation(p, &found) && address + bytes <= found.base + found.bytes) return;
  const bool known = nearest_allocation(p, &found);
  fail(known && !found.live ? "simt-use-after-free" : "simt-oob-global",
       "%s: %s of global memory are not in one live buffer\n"
       "They start %td bytes after the start of a %s buffer of %s.",
       operation, bytes_text(bytes).c_str(), known ? address - found.base : 0,
       known ? kind_name(found.kind) : "global", bytes_text(known ? found.bytes : 0).c_str());
}

void poison_destination(char* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<char>(reinterpret_cast<std::uintptr_t>(to + i) % 2 == 0 ? 0xf1 : 0xff);
}

void async_copy(void* shared, const void* global, std::uint32_t bytes, std::uint32_t source_bytes) {
  ThreadCopies& own = own_copies("cp.async");
  Block& block = *current->block;
  void* caller = issuer(__builtin_return_address(0));
  if (source_bytes > bytes) fail("simt-launch", "cp.async of %u bytes from %u bytes", bytes, source_bytes);
  check_shared_range(block, shared, bytes, bytes, "cp.async");
  check_global_range(global, source_bytes, source_bytes ? bytes : 1, "cp.async");
  if (source_bytes > 0) {
    checked_read(global, source_bytes, caller);
    const char first =
        *static_cast<const volatile char*>(global);  // a bad address faults here, not at the wait
    static_cast<void>(first);
  }
  checked_write(shared, bytes, caller);
  if (tracing) trace_async_copy(shared, global, bytes, source_bytes, caller);
  char* to = static_cast<char*>(shared);
  poison_destination(to, bytes);
  const std::uint32_t pending = add_pending(block, to, bytes, nullptr, false, caller);
  own.copies.push_back({to, static_cast<const char*>(global), bytes, source_bytes, pending, nullptr});
  own.under_way += bytes;
}

void async_commit_group() {
  ThreadCopies& own = own_copies("cp.async.commit_group");
  own.group_ends.push_back(issued(own));
}

void async_wait_group(std::uint32_t left) {
  ThreadCopies& own = own_copies("cp.async.wait_group");
  const std::size_t groups = own.group_ends.size();
  if (groups <= left) return;
  land_own(own, own.group_ends[groups - left - 1], issuer(__builtin_return_address(0)));
  // Groups without copies are done, too.
  if (own.group_ends.size() > left)
    own.group_ends.erase(own.group_ends.begin(), own.group_ends.end() - static_cast<std::ptrdiff_t>(left));
}

void async_wait_all() {
  ThreadCopies& own = own_copies("cp.async.wait_all");
  land_own(own, issued(own), issuer(__builtin_return_address(0)));
  own.group_ends.clear();
}

void async_arrive(std::uint64_t* barrier, bool counted) {
  ThreadCopies& own = own_copies("cp.async.mbarrier.arrive");
  check_barrier(barrier, "cp.async.mbarrier.arrive");
  if (!counted) add_pending_arrival(barrier);
  for (ThreadCopies::Copy& copy : own.copies)
    if (!copy.barrier) copy.barrier = barrier;
  Block* block = current->block;
  const std::uint16_t thread = current->linear;
  const std::uint64_t end = issued(own);
  land_later([=] {
    land(*block, block->async->threads[thread], end, barrier);
    complete_arrival(barrier);
  });
}

// ---- the queue ----

void land_later(std::function<void()> landing) {
  worker->in_flight.push_back(std::move(landing));
}

void land_later(std::int64_t bytes, std::function<void()> landing) {
  Block* block = current->block;
  const std::uint16_t thread = current->linear;
  async_copies(*block).threads[thread].under_way += bytes;
  land_later([=, landing = std::move(landing)] {
    async_copies(*block).threads[thread].under_way -= bytes;
    landing();
  });
}

// Until something changes that a thread may wait for.
bool land_copies(Worker& w) {
  if (w.in_flight.empty()) return false;
  Thread* const interrupted = current;
  set_current(nullptr);
  if (tracing) {
    for (Block* block : w.resident)
      if (block->async) std::for_each(block->async->threads.begin(), block->async->threads.end(), count_wait);
  }
  const std::uint64_t before = w.progress;
  while (!w.in_flight.empty() && w.progress == before) {
    std::size_t next = 0;
    if (options().order == Order::shuffle)
      next = Permutation(w.in_flight.size(), options().seed)(w.slow_ticks++ % w.in_flight.size());
    if (options().order == Order::reversed) next = w.in_flight.size() - 1;
    const std::function<void()> landing = std::move(w.in_flight[next]);
    w.in_flight.erase(w.in_flight.begin() + static_cast<std::ptrdiff_t>(next));
    landing();
  }
  set_current(interrupted);
  return true;
}

void forget_copies(Worker& w) {
  w.in_flight.clear();
  interpreted_caller = nullptr;
  for (Block* block : w.resident)
    if (block->async) *block->async = AsyncCopies();
  for (Block* block : w.resident)
    if (block->products) forget_block_products(*block);
  w.pending_copies = 0;
}

// What a thread copied and did not wait for lands when it returns: nobody can wait for it any more.
void finish_thread_copies(Thread& thread) {
  if (thread.block->async->threads.size() <= thread.linear) return;
  ThreadCopies& own = thread.block->async->threads[thread.linear];
  report_unfinished_stores(own);
  land(*thread.block, own, issued(own), nullptr);
  if (!own.bulk.empty()) own.bulk_groups.push_back(std::move(own.bulk));
  own.bulk.clear();
  land_bulk_stores(*thread.block, own, 0);
  own.landed = 0;
  own.group_ends.clear();
}

void finish_block_copies(Block& block) {
  while (land_copies(*worker)) {
  }
  double under_way = 0;
  for (ThreadCopies& own : block.async->threads) {
    if (own.waits > 0) under_way += static_cast<double>(own.waited) / static_cast<double>(own.waits);
    own.under_way = own.waits = own.waited = 0;
  }
  if (tracing) trace_under_way(static_cast<std::uint64_t>(under_way));
  report_unfinished(block);
}

void checked_read(const void* p, std::size_t bytes, void* caller) {
  if (checked_build && !tracing) check_slowly(p, bytes, Access::read, Strength::plain, 1, caller);
}

void checked_write(void* p, std::size_t bytes, void* caller) {
  if (checked_build && !tracing) check_slowly(p, bytes, Access::write, Strength::plain, 1, caller);
}

}  // namespace simt
