// SPDX-License-Identifier: MIT
//
// What traced builds count while a kernel runs (trace*.cpp). All but the events of blocks and launches is called only while
// `tracing`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "user_view.h"

namespace simt {

struct Block;
struct Launch;
struct Thread;

extern bool tracing;
void trace_access(const void* address, std::size_t bytes, bool write, const void* place);
void trace_atomic(const volatile void* address, std::size_t bytes, const void* place);
// cp.async: a load of global memory and a store to shared memory, counted like those.
void trace_async_copy(const void* shared, const void* global, std::size_t bytes, std::size_t source_bytes,
                      const void* place);
void trace_bulk_copy(std::size_t bytes);  // by the copy engine, in either direction
// A block has ended: the bytes that each of its threads had under way at its waits, on average, over all threads.
void trace_under_way(std::uint64_t bytes);
void trace_product(std::size_t bytes);  // operands of a product of a warpgroup, in shared memory
void trace_barrier(Site site);          // completed by a block
void trace_switch(const Thread* next);  // before `current` changes; null: to the worker's main stack
void trace_block_begins(Block& block);
void trace_block_ends(Block& block);
void trace_worker_ends(const Launch& launch);
void trace_launch_ends(const Launch& launch);

}  // namespace simt
