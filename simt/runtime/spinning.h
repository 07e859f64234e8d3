// SPDX-License-Identifier: MIT
//
// Finds launches in which every thread that can run waits in a loop for something that nobody will write.
//
// A kernel is a machine whose next steps follow from its state alone: from the registers and stacks of its
// threads and from the memory that they see. If the whole state comes back, it will come back for ever. So,
// when a launch has started no block for a while, the watchdog asks its workers to look: each lets its threads
// go from tick() to tick(), round by round, until a hash of all their stacks and shared memory is one that it
// has seen before, while the hash of global memory stayed the same. A loop that computes never brings its
// state back, however long it runs; a loop that waits does so in each round. A worker believes it after a few
// looks, and the launch is given up once all workers believe it of the same memory.
//
// What may change from outside ends the search for good: a host thread that is free to write, a clock that the
// threads read, memory that the runtime cannot see.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace simt {

struct Block;
struct Launch;
struct Worker;

/// What a worker found out about its share of a launch; protected by the launch's mutex.
struct WorkerLook {
  int stuck = 0;                 // looks in a row in which its threads came back to a state they had been in
  std::uint64_t memory = 0;      // hash of the global memory that they saw
  unsigned look = 0;             // the number of the last of these looks
  bool finished = false;         // it has no more blocks
  bool at_grid_barrier = false;  // all of its threads wait there or have returned
};

/// What a worker keeps from one look to the next.
struct LookPace {
  unsigned answered = 0;  // looks that the watchdog has asked for, as far as this worker knows
  bool looking = false;   // threads stop at their next tick()
  int skip = 0, fruitless = 0;
  double not_before = 0;  // in seconds: looking takes at most a tenth of the time
};

/// On a worker's main stack, after the watchdog has asked for a look.
void look_for_progress(Worker& w);
/// Whether this process has no other threads than so many.
bool has_only_threads(int most);

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed);
/// shared.cpp: a block's shared memory.
std::uint64_t hash_shared(const Block& block, std::uint64_t seed);
/// arena.cpp: all that is allocated; false where some of it cannot be read from here.
bool hash_device_memory(std::uint64_t* hash);

/// Counters of the runtime's own that go on while a kernel waits: they are no part of what it sees.
#if defined(__linux__)
#define SIMT_OWN_COUNTER __attribute__((section("simt_counters")))
#else
#define SIMT_OWN_COUNTER
#endif

/// How often this OS thread's kernels have read a clock.
extern __thread std::uint64_t clock_reads;
/// Threads that the runtime has started.
extern std::atomic<int> runtime_threads;
/// Ranges of host memory that the program has registered: other processes may write there.
extern std::atomic<int> registered_ranges;
/// streams.cpp: the operation runs on the runtime's own thread, and the host's goes on.
bool host_goes_on_meanwhile();

}  // namespace simt
