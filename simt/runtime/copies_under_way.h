// SPDX-License-Identifier: MIT
//
// Asynchronous copies, as those see them who wait for them or touch what they own (async_copies.cpp, async_pending.cpp,
// mbarrier.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "workers.h"

namespace simt {

bool land_copies(Worker& w);                // some that are in flight; false: there are none
void finish_thread_copies(Thread& thread);  // it returns
void finish_block_copies(Block& block);
void forget_copies(Worker& w);          // the launch was abandoned
extern const Collective kMbarrierWait;  // the lane of a thread that waits at one names it by `input`
std::string describe_mbarrier(const std::uint64_t* barrier);
// Whether an asynchronous copy owns some of these bytes of the block's shared memory; and the report of an
// access to them, if it does.
bool async_pending(const Block& block, const void* p, std::size_t bytes);
// Who has copied to p, if the record is that of a wait that came after the barrier behind that copy; else null.
void* copy_waited_for_late(const Block& block, const char* p, std::uint64_t record);
void check_async_wait(const char* p, std::size_t bytes, bool write, void* caller);

}  // namespace simt
