// SPDX-License-Identifier: MIT
//
// The lanes of a warp run one after the other, or in turns; here their accesses and branches become the
// requests that the warp would make. A request is counted once all lanes of the warp have come to it, or when
// the block ends.
#include "trace.h"
#include "device_memory.h"
#include "workers.h"

#include <algorithm>

#if !defined(__APPLE__)
// The section of __device__ variables; null where a program has none.
extern "C" const char __start_simt_device[] __attribute__((weak));
extern "C" const char __stop_simt_device[] __attribute__((weak));
#endif

namespace simt {

bool tracing = false;

// A warp's requests that wait for lanes. Lanes mostly come in the order of the first one, so each has a
// cursor; else a hash table finds the first request with this place and path that the lane has not joined.
class WarpTrace {
 public:
  void reset() {
    requests_.clear();
    std::fill(table_.begin(), table_.end(), 0);
    std::fill(cursors_.begin(), cursors_.end(), 0);
    done_ = 0;
    heads_ = 0;
    numbers_ = 0;
  }

  WarpRequest& join(const Thread& thread, std::uint64_t path, const void* place, Operation operation,
                    std::size_t bytes) {
    const std::uint32_t lane = 1u << thread.lane;
    std::uint32_t& cursor = cursors_[thread.lane];
    if (cursor < requests_.size()) {
      WarpRequest& next = requests_[cursor];
      if (next.place == place && next.path == path && !(next.lanes & lane) && next.operation == operation) {
        ++cursor;
        next.lanes |= lane;
        return next;
      }
    }
    const std::uint32_t index = find(lane, path, place, operation, bytes);
    cursor = index + 1;
    requests_[index].lanes |= lane;
    return requests_[index];
  }

  // After the lane has said what it does: counts the request if no lane is missing that still runs.
  void joined(WarpRequest& request, const Thread& thread) {
    const Warp& warp = *thread.warp;
    if ((request.lanes | warp.returned) != warp.present) return;
    count_request(request, *thread.block, warp.id);
    request.lanes = warp.present;  // done
    if (++done_ == requests_.size() && done_ * 4 >= table_.size()) {
      forget_done(*thread.warp);
    } else if (requests_.size() >= next_look_) {
      forget_done(*thread.warp);
    }
  }

  void finish(const Block& block, const Warp& warp) {
    for (const WarpRequest& request : requests_)
      if (request.lanes != warp.present) count_request(request, block, warp.id);
    reset();
  }

  std::size_t waiting() const { return requests_.size() - done_; }

  // Counts the older half of what waits as it is.
  void count_oldest(const Block& block, const Warp& warp) {
    std::size_t left = waiting() / 2;
    for (std::size_t i = 0; left > 0; ++i) {
      if (requests_[i].lanes == warp.present) continue;
      count_request(requests_[i], block, warp.id);
      requests_[i].lanes = warp.present;
      --left;
    }
    forget_done(warp);
  }

 private:
  static constexpr std::uint32_t kLook = 1 << 12;

  std::size_t slot(std::uint64_t path, const void* place) const {
    std::uint64_t h = path ^ reinterpret_cast<std::uintptr_t>(place) * 0x9e3779b97f4a7c15;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
    return h >> 20 & (table_.size() - 1);
  }

  // Where the first request of this place and path is or will be noted.
  std::uint32_t& head(std::uint64_t path, const void* place) {
    std::size_t at = slot(path, place);
    while (table_[at]) {
      const WarpRequest& first = requests_[table_[at] - 1];
      if (first.path == path && first.place == place) break;
      at = (at + 1) & (table_.size() - 1);
    }
    return table_[at];
  }

  std::uint32_t find(std::uint32_t lane, std::uint64_t path, const void* place, Operation operation,
                     std::size_t bytes) {
    if (table_.size() < 2 * (heads_ + 1)) grow();
    std::uint32_t& first = head(path, place);
    if (!first) {
      first = append(path, place, operation, bytes);
      ++heads_;
      requests_[first - 1].last = first;
      return first - 1;
    }
    std::uint32_t at = requests_[first - 1].last;
    if (!(requests_[at - 1].lanes & lane)) {  // else the lane has been to all of them
      for (at = first; at; at = requests_[at - 1].next) {
        const WarpRequest& request = requests_[at - 1];
        if (!(request.lanes & lane) && request.operation == operation) return at - 1;
      }
      at = requests_[first - 1].last;
    }
    const std::uint32_t added = append(path, place, operation, bytes);
    requests_[at - 1].next = added;
    requests_[first - 1].last = added;
    return added - 1;
  }

  std::uint32_t append(std::uint64_t path, const void* place, Operation operation, std::size_t bytes) {
    requests_.emplace_back();
    WarpRequest& request = requests_.back();
    request.path = path;
    request.place = place;
    request.operation = operation;
    request.bytes = static_cast<std::uint16_t>(bytes);
    request.number = numbers_++;
    return static_cast<std::uint32_t>(requests_.size());
  }

  void grow() {
    table_.assign(std::max<std::size_t>(64, 4 * heads_), 0);
    std::size_t size = 64;
    while (size < 4 * (heads_ + 1)) size *= 2;
    table_.assign(size, 0);
    for (std::uint32_t i = 0; i < requests_.size(); ++i)
      if (requests_[i].last) head(requests_[i].path, requests_[i].place) = i + 1;
  }

  // Drops the requests that have been counted and links the others again.
  void forget_done(const Warp& warp) {
    std::vector<std::uint32_t> moved(requests_.size() + 1);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < requests_.size(); ++i) {
      moved[i] = kept;
      if (requests_[i].lanes == warp.present) continue;
      if (kept != i) requests_[kept] = requests_[i];
      ++kept;
    }
    moved[requests_.size()] = kept;
    for (std::uint32_t& cursor : cursors_) cursor = moved[std::min<std::size_t>(cursor, requests_.size())];
    requests_.resize(kept);
    std::fill(table_.begin(), table_.end(), 0);
    done_ = heads_ = 0;
    for (std::uint32_t i = 0; i < kept; ++i) {
      WarpRequest& request = requests_[i];
      request.next = request.last = 0;
      std::uint32_t& first = head(request.path, request.place);
      if (!first) {
        first = i + 1;
        ++heads_;
      } else {
        requests_[requests_[first - 1].last - 1].next = i + 1;
      }
      requests_[first - 1].last = i + 1;
    }
    next_look_ = std::max<std::size_t>(kLook, 2 * kept);
  }

  std::vector<WarpRequest> requests_;  // in the order in which their first lanes came
  std::vector<std::uint32_t> table_;   // 1 + index of the first request of each place and path; 0: none
  std::array<std::uint32_t, 32> cursors_ = {};
  std::size_t done_ = 0, heads_ = 0, next_look_ = kLook;
  std::uint32_t numbers_ = 0;
};

// The trace of a resident block.
struct BlockTrace {
  struct Start {
    std::uint64_t loads = 0;
    bool stored = false;
  };
  std::vector<Start> starts;  // of each warp's first lane: what it does up to its first store
  std::vector<WarpTrace> warps;
  std::vector<std::uint64_t> paths;  // of the threads that do not run
};

namespace {

// Of requests that wait in one warp: then its other lanes get their turn; and then the oldest are taken for
// complete, as where one lane works alone.
constexpr std::size_t kTurn = 1 << 12, kMost = 1 << 14;

WarpTrace& trace_of(const Thread& thread) {
  return thread.block->trace->warps[thread.warp->id];
}

bool is_global_memory(const char* p) {
#if !defined(__APPLE__)
  if (p >= __start_simt_device && p < __stop_simt_device) return true;
#endif
  return in_arena(p);
}

void add(const Thread& thread, Operation operation, const char* p, std::size_t bytes, const void* place) {
  if (thread.lane == 0) {
    BlockTrace::Start& start = thread.block->trace->starts[thread.warp->id];
    start.loads += operation == Operation::global_load && !start.stored;
    start.stored = start.stored || operation == Operation::global_store;
  }
  WarpTrace& warp = trace_of(thread);
  WarpRequest& request = warp.join(thread, simt_trace_path, place, operation, bytes);
  request.addresses[thread.lane] = p;
  const bool leads = (request.lanes & (request.lanes - 1)) == 0;
  warp.joined(request, thread);
  if (__builtin_expect(leads && warp.waiting() >= kTurn, 0)) {
    if (warp.waiting() >= kMost) warp.count_oldest(*thread.block, *thread.warp);
    // Between two accesses to global memory a thread may lose its turn, as in any loop that waits.
    if (operation == Operation::global_load || operation == Operation::global_store) tick_slow();
  }
}

// Of the access of one thread: a struct is moved in the largest pieces that divide it.
std::size_t piece_of(const char* p, std::size_t bytes) {
  const std::size_t both = reinterpret_cast<std::uintptr_t>(p) | bytes;
  return std::min<std::size_t>(16, both & -both);
}

}  // namespace

void trace_block_begins(Block& block) {
  if (!block.trace) block.trace = new BlockTrace;
  block.trace->warps.resize(block.warps.size());
  block.trace->starts.assign(block.warps.size(), {});
  block.trace->paths.assign(block.size, 0);
}

void trace_block_ends(Block& block) {
  for (std::size_t i = 0; i < block.warps.size(); ++i) block.trace->warps[i].finish(block, block.warps[i]);
  for (const BlockTrace::Start& start : block.trace->starts)
    if (start.stored) count_start(start.loads);
  count_block(block);
}

void trace_switch(const Thread* next) {
  if (current) current->block->trace->paths[current->linear] = simt_trace_path;
  if (next) simt_trace_path = next->block->trace->paths[next->linear];
}

void trace_access(const void* address, std::size_t bytes, bool write, const void* place) {
  if (!current || bytes == 0) return;
  const char* p = static_cast<const char*>(address);
  const bool global = is_global_memory(p);
  if (!global && !is_shared(p)) return;
  const Operation operation = global  ? write ? Operation::global_store : Operation::global_load
                              : write ? Operation::shared_store
                                      : Operation::shared_load;
  const std::size_t piece = bytes <= 16 ? bytes : piece_of(p, bytes);
  for (std::size_t done = 0; done < bytes; done += piece) add(*current, operation, p + done, piece, place);
}

void trace_atomic(const volatile void* address, std::size_t bytes, const void* place) {
  if (!current) return;
  const char* p = const_cast<const char*>(static_cast<const volatile char*>(address));
  if (is_global_memory(p)) {
    add(*current, Operation::global_atomic, p, bytes, place);
  } else if (is_shared(p)) {
    add(*current, Operation::shared_atomic, p, bytes, place);
  }
}

void trace_async_copy(const void* shared, const void* global, std::size_t bytes, std::size_t source_bytes,
                      const void* place) {
  if (source_bytes > 0)
    add(*current, Operation::global_load, static_cast<const char*>(global), source_bytes, place);
  add(*current, Operation::shared_store, static_cast<const char*>(shared), bytes, place);
}

void trace_branch_taken(bool taken, const void* place) {
  WarpTrace& warp = trace_of(*current);
  WarpRequest& request = warp.join(*current, simt_trace_path, place, Operation::branch, 0);
  if (taken) request.taken |= 1u << current->lane;
  warp.joined(request, *current);
}

}  // namespace simt
