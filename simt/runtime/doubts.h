// SPDX-License-Identifier: MIT
//
// Checked builds: accesses that are known to be wrong only by what comes after them. A store that may be a race, a read of shared
// memory that nobody has written yet (checked_races.cpp), a host's read of a result that is not there yet (early_reads.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "failures.h"
#include "threads.h"

namespace simt {

// ---- checked_races.cpp ----
// Decides on an access that may have been a race, by what the running thread does next; may record a failure.
void settle_doubt(const char* next, bool strong);
// A read of shared memory that nobody has written: a race if somebody does before the block's next barrier,
// else uninitialised. Kept until then, and preferred to all that follows from it.
bool unwritten_pending(const Block& block);
void suspect_unwritten(const Block& block, Failure failure);
void settle_block(const Block& block);
void forget_unsynced();  // of volatile accesses, whose readers may look again after what comes now
void prefer_unwritten(Failure& failure);

// ---- checked.cpp ----
void forget_atomic();  // the running thread's operation, which will not be done

// ---- remote_shared.cpp ----
enum class Access : std::uint8_t;
// A plain access of the running thread to the shared memory of another block of its cluster.
void use_remote_shared(const Block& block, std::size_t bytes, Access access, void* caller);
void settle_cluster();  // its blocks have ended

// ---- early_reads.cpp ----
// Host code reads or writes managed or pinned memory. `keep`: a plain read, which may come too early.
void note_host_access(const char* p, std::size_t bytes, bool keep, void* caller);
void look_before_operation();
void look_after_operation(std::uint64_t number, const std::string& name);
void report_early_reads(const char* p, std::size_t bytes);  // in memory that is freed now
void report_early_reads();                                  // at the program's end
void forget_early_reads();

// ---- checked_host.cpp ----
// Host code has faulted at an address of the arena: reports it and ends the program.
[[noreturn]] void report_host_fault(const char* address, const char* verb, std::vector<void*> frames);

}  // namespace simt
