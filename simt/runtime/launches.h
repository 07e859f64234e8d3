// SPDX-License-Identifier: MIT
//
// One launch of a kernel: its configuration, which blocks its workers still have to take, and what came of it (launch.cpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "failures.h"
#include "spinning.h"

namespace simt {

struct SharedLayout;

constexpr std::uint64_t kNoUnit = ~std::uint64_t{0};

struct Launch {
  std::uint64_t number;  // of this process's operations: launches, copies, ...
  Kernel* kernel;
  SharedLayout* shared_layout;
  const void* closure;
  dim3 grid, block, cluster;
  unsigned threads;  // of a block
  std::uint64_t blocks;
  std::size_t dynamic_shared;
  bool cooperative;
  std::uint64_t overlapped = 0;  // checked builds: the kernel that may still run until a block waits; 0: none
  bool without_returned;         // returned_count_as_arrived()
  int workers;
  std::atomic<std::uint64_t> next{0};  // the next unit (block or cluster) to hand out
  // The first unit, in the order of handing out, that has failed: those after it stop, those before it run to their end, so that
  // which failure is reported is the same on every run.
  std::atomic<std::uint64_t> failed_unit{kNoUnit};
  bool stops(std::uint64_t unit) const { return unit >= failed_unit.load(std::memory_order_relaxed); }
  std::atomic<bool> timed_out{false};
  std::atomic<unsigned> looks{0};  // that the watchdog has asked for (spinning.h)
  std::atomic<bool> stuck{false};  // nobody can ever go on
  bool host_is_free = false;       // a thread of the host may write to memory that the kernel sees
  std::mutex mutex;                // protects what follows
  bool failed = false;
  Failure failure;
  LaunchStats counts;
  std::vector<WorkerLook> found;  // by each worker
  // The grid barrier of cooperative launches.
  std::condition_variable grid_changed;
  std::uint64_t grid_arrived = 0;
  std::uint64_t grid_generation = 0;
  int idle_workers = 0, finished_workers = 0;
  bool deadlocked = false;
};

struct LaunchProgress {
  std::uint64_t number = 0;      // of the launch; odd while it runs
  std::uint64_t handed_out = 0;  // of its blocks or clusters; those of cooperative launches start at once
};
LaunchProgress launch_progress();
bool time_out_launch(std::uint64_t number);  // false: it is over
// Where one of its units has failed, those before it stop, too; false: none has.
bool stop_failed_launch(std::uint64_t number);
void ask_for_look(std::uint64_t number);  // spinning.h
void run_worker(Launch& launch, int number);

}  // namespace simt
