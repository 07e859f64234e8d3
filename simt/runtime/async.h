// SPDX-License-Identifier: MIT
//
// What the files about asynchronous copies share:
//
//   async_copies.cpp   cp.async and its groups; the queue of copies that barriers count
//   async_pending.cpp  checked builds: which bytes a copy still owns
//   mbarrier.cpp       barriers in shared memory
//   bulk_copies.cpp    cp.async.bulk, st.async, reductions
//   tensor_copies.cpp  boxes of tensors, swizzles
#pragma once

#include <functional>

#include "checked.h"
#include "simt/async_copies.h"

namespace simt {

// A stretch of shared memory that a copy owns: nobody may touch it, or, where the copy reads it, write it.
struct PendingCopy {
  void* caller;                  // who issued it
  const std::uint64_t* barrier;  // null: the thread waits for its group
  std::uint8_t parity;           // of the barrier's phase that it counts in, once landed
  bool landed;                   // but nobody has waited for it
  bool source;                   // the copy reads these bytes
  std::uint32_t offset, bytes;   // in the block's arena
  std::uint16_t thread;          // in the block
  std::uint32_t ordered;         // the block's when the copy was issued: changes with each barrier
};

// cp.async of one thread. Numbers count its copies since the block began.
struct ThreadCopies {
  struct Copy {
    char* to;
    const char* from;
    std::uint32_t bytes, source_bytes;
    std::uint32_t pending;         // number of its PendingCopy, in checked builds
    const std::uint64_t* barrier;  // the first that was told to count it; null: none yet
  };
  std::vector<Copy> copies;  // in flight, oldest first
  std::uint64_t landed = 0;
  std::int64_t under_way = 0;  // bytes to shared memory that have not landed yet
  std::int64_t waits = 0,
               waited = 0;  // how often that was waited for, and the sum of what was under way then
  std::vector<std::uint64_t> group_ends;  // of committed groups in flight: numbers of copies
  // Bulk copies from shared memory: those not committed yet, and the groups in flight.
  struct BulkStore {
    std::function<void(const char* from)> copy;
    const char* shared;
    std::size_t bytes;
    std::uint32_t pending;
    void* caller;
    std::vector<char> kept;  // what has been read and not written yet
    std::size_t start = 0;   // of it in `kept`: there, too, a swizzle goes by the address
  };
  std::vector<BulkStore> bulk;
  std::vector<std::vector<BulkStore>> bulk_groups;
};

// A block's, made when a thread first copies.
struct AsyncCopies {
  std::vector<ThreadCopies> threads;
  std::vector<PendingCopy> pending;         // checked builds; bytes == 0: free
  std::vector<std::uint32_t> free_pending;  // numbers of those
  std::uint32_t* owner = nullptr;           // of each 4 bytes of the arena: number of a pending copy + 1
  // Of each 4 bytes the shadow's record of the bulk copy that last wrote them; null: none has.
  std::uint64_t* engine = nullptr;
  // Of each 4 bytes that landed at a wait behind a later barrier than the copy: the shadow's record of that, and who copies.
  struct LateWait {
    std::uint64_t record;
    void* caller;
  };
  LateWait* late = nullptr;
};

AsyncCopies& async_copies(Block& block);
// A copy that a barrier counts is issued by the running thread. `landing` runs once it has landed.
void land_later(std::int64_t bytes, std::function<void()> landing);
// Who issues a copy: the caller of the runtime, or the inline PTX that is interpreted.
extern __thread void* interpreted_caller;
inline void* issuer(void* caller) {
  return interpreted_caller ? interpreted_caller : caller;
}
// Issues work that a barrier counts. It runs on the worker's main stack, once nothing else can.
void land_later(std::function<void()> landing);
// NaN for every type, and not the one that tests fill outputs with: they must not look unwritten.
void poison_destination(char* to, std::size_t bytes);
// Fails unless the bytes lie in the block's shared memory, aligned.
void check_shared_range(const Block& block, const void* p, std::size_t bytes, std::size_t alignment,
                        const char* operation);
void check_global_range(const void* p, std::size_t bytes, std::size_t alignment, const char* operation);
Block* block_of_shared(const void* p);  // among the resident ones; null: none
// In checked builds, as if the running thread did it in its own code.
void checked_read(const void* p, std::size_t bytes, void* caller);
void checked_write(void* p, std::size_t bytes, void* caller);

// ---- async_pending.cpp: nothing but a number 0 in plain builds ----
std::uint32_t add_pending(Block& block, const void* p, std::size_t bytes, const std::uint64_t* barrier,
                          bool source, void* caller);
// It has landed, and the barrier's current phase counts it.
void landed_pending(Block& block, std::uint32_t number, const std::uint64_t* barrier);
void remove_pending(Block& block, std::uint32_t number);
// Who issued a copy that no barrier has come after since; null: some barrier has not.
void* caller_before_barrier(const Block& block, std::uint32_t number);
void note_late_wait(Block& block, const void* p, std::size_t bytes, void* caller);
void observed_phase(const std::uint64_t* barrier, unsigned parity);  // a thread knows that it has ended
// What a bulk copy writes and reads goes another way than threads do, PTX's async proxy. These bytes are its own: a later bulk
// copy may read them as they are.
void note_engine_write(Block& block, const void* p, std::size_t bytes);
// Fails where a thread has written any of them since the block's last fence.proxy.async.
void check_proxy_fence(const Block& block, const void* p, std::size_t bytes, const char* operation,
                       void* caller);
void report_unfinished(const Block& block);  // the block ends, and nobody has waited for a barrier's copy
void report_unfinished_stores(const ThreadCopies& own);  // the running thread returns

// ---- mbarrier.cpp ----
unsigned mbarrier_parity(const std::uint64_t* barrier);
void add_pending_arrival(std::uint64_t* barrier);
// By a copy that has landed; nothing happens to a barrier that was invalidated meanwhile.
void complete_bytes(std::uint64_t* barrier, std::uint32_t bytes);
void complete_arrival(std::uint64_t* barrier);
void check_barrier(const std::uint64_t* barrier, const char* operation);  // initialised, in shared memory

// ---- bulk_copies.cpp ----
// copy(from) writes what stands in shared memory, or in a copy of it at an address that is as aligned.
void add_bulk_store(const void* shared, std::size_t bytes, void* caller,
                    std::function<void(const char* from)> copy);
void land_bulk_stores(Block& block, ThreadCopies& own, std::size_t groups_left);
void reduce_element(char* to, const char* from, Reduction reduction, ElementType type);
std::size_t element_size(ElementType type);
// The blocks that a mask of ranks names; none: the running block.
std::vector<Block*> blocks_of_mask(std::uint32_t mask);

}  // namespace simt
