// SPDX-License-Identifier: MIT
//
// What the runtime's files share: threads, warps, blocks, workers and launches. Nothing here is seen by
// users.
//
//   options.cpp  what the environment says
//   launch.cpp   checks a configuration, hands blocks to the workers
//   worker.cpp   a worker's loop over the blocks it holds; fibers; yields
//   block.cpp    __syncthreads, cluster and grid barriers
//   warp.cpp     warp collectives
//   shared.cpp   shared memory of the resident blocks
//   arena.cpp    device memory
//   report.cpp, symbols.cpp, deadlock.cpp, faults.cpp, errors.cpp   everything that goes wrong
//   checked*.cpp the checked build's view of each memory access
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "context.h"
#define SIMT_RUNTIME_SOURCE
#include "simt/runtime.h"

namespace simt {

struct Block;
struct Warp;
struct Worker;

enum class State : std::uint8_t { running, barrier, warp, active_mask, waiting, cluster, grid, done };

// One CUDA thread; one cache line. While it doesn't run, `context` resumes it.
struct alignas(64) Thread {
  Context context;
  Block* block;
  Warp* warp;
  uint3 index;
  std::uint16_t linear;  // in the block
  std::uint8_t lane;
  State state;
  Site site;    // where it waits
  char* stack;  // lowest address of the stack it runs on
};

struct Warp {
  std::uint16_t epoch = 0;  // changes with each collective
  std::uint32_t present;    // lanes that exist
  std::uint32_t returned;
  std::uint32_t waiting;  // at a collective
  unsigned id;
  Thread* threads;  // of lane 0
  Lane lanes[32];
};

struct Block {
  uint3 index = {~0u, ~0u, ~0u};
  std::uint64_t linear = 0;  // in the grid
  unsigned size = 0;         // threads
  unsigned started = 0, live = 0;
  unsigned expected = 0;  // at a barrier: all threads, or with SIMT_LENIENT those that have not returned
  unsigned arrived = 0;   // at the barrier
  Site barrier_site;      // of the first that arrived
  unsigned voted_true = 0, votes = 0;          // of the barrier that fills
  unsigned result_true = 0, result_votes = 0;  // of the last one that completed
  char* shared = nullptr;                      // arena
  char* dynamic = nullptr;                     // start of the dynamic part
  std::size_t shared_bytes = 0;                // of the arena
  std::uint32_t epoch = 0;     // changes with everything that orders threads of different warps
  void* race_cells = nullptr;  // checked_races.cpp
  dim3 shape = {0, 0, 0};
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Thread*> order;  // in which threads start and leave a barrier
};

// The first thing that went wrong in a launch.
struct Failure {
  const char* slug = "";
  std::string title, details;  // details: further lines, already formatted
  cudaError_t error = cudaErrorLaunchFailure;
  bool has_thread = false;
  uint3 block = {0, 0, 0}, thread = {0, 0, 0};
  Site site;                  // if known, else the first user frame of:
  std::vector<void*> frames;  // return addresses, innermost first
};

struct SharedLayout;

struct Launch {
  std::uint64_t number;  // of this process's launches
  Kernel* kernel;
  SharedLayout* shared_layout;
  const void* closure;
  dim3 grid, block, cluster;
  unsigned threads;  // of a block
  std::uint64_t blocks;
  std::size_t dynamic_shared;
  bool cooperative;
  int workers;
  std::atomic<std::uint64_t> next{0};  // the next unit (block or cluster) to hand out
  std::atomic<bool> aborted{false};
  std::atomic<bool> timed_out{false};
  std::mutex mutex;  // protects what follows
  bool failed = false;
  Failure failure;
  LaunchStats counts;
  // The grid barrier of cooperative launches.
  std::condition_variable grid_changed;
  std::uint64_t grid_arrived = 0;
  std::uint64_t grid_generation = 0;
  int idle_workers = 0, finished_workers = 0;
  bool deadlocked = false;
};

struct Stack {
  char* base;  // guard pages, then usable memory up to base + stack_size()
  char* top;
  Context finished;
};

// One OS thread that runs blocks.
struct Worker {
  int number = 0;
  Launch* launch = nullptr;
  Context main = nullptr;        // the OS thread's own stack, where run_resident() loops
  std::vector<Block*> resident;  // blocks that run now
  std::size_t resident_count = 0;
  std::size_t starting = 0;  // of resident: the first that has unstarted threads
  std::uint64_t live_blocks = 0;
  Thread** queue = nullptr;  // ring of runnable threads: mask + 1 places
  std::size_t head = 0, tail = 0, mask = 0;
  std::vector<Thread*> waiters;     // in wait(), until notify()
  std::uint64_t progress = 0;       // grows with everything that a waiter may wait for
  std::uint64_t progress_seen = 0;  // when the waiters last looked
  unsigned cluster_arrived = 0;
  std::uint64_t grid_generation = 0;  // of the grid barrier that this worker's threads wait for
  Thread* first_thread = nullptr;     // of the fiber that starts
  Stack* first_stack = nullptr;
  std::vector<Stack*> free_stacks;
  std::vector<Stack*> stacks;
  std::vector<Block*> pool;  // block objects for reuse
  LaunchStats counts;
  const Block* current_block = nullptr;  // whose blockIdx and shared_base are set
  std::uint32_t slow_ticks = 0;
  std::uint32_t epochs = 0;  // given to blocks so far

  bool runnable() const { return head != tail; }
  void push(Thread* thread) { queue[tail++ & mask] = thread; }
  void push_all(Thread* const* threads, std::size_t count);
  Thread* pop() { return queue[head++ & mask]; }
};

extern __thread Worker* worker;   // of this OS thread, while it runs a launch
extern __thread Thread* current;  // the running CUDA thread; null on the worker's main stack

// ---- options.cpp: from the environment ----
enum class Order { normal, reversed, shuffle };
struct Options {
  int threads;  // SIMT_THREADS
  Order order;  // SIMT_ORDER
  std::uint64_t seed;
  double timeout_seconds;   // SIMT_TIMEOUT
  std::size_t stack_bytes;  // SIMT_STACK (KiB)
  bool lenient;             // SIMT_LENIENT=1: returned threads count as arrived at barriers, as on a GPU
};
const Options& options();
std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t seed);  // of 0 .. n-1

// ---- worker.cpp ----
void leave(Context* save);     // runs something else, returns when resumed
void run_resident(Worker& w);  // until the resident blocks are done or the launch is aborted
void set_up_block(Worker& w, Block& block, std::uint64_t linear, uint3 index);
inline void resume_later(Worker& w, Thread* thread) {
  thread->state = State::running;
  w.push(thread);
}

inline void make_current(Worker& w, Thread* thread) {
  current = thread;
  threadIdx = thread->index;
  if (__builtin_expect(w.current_block != thread->block, 0)) {
    w.current_block = thread->block;
    shared_base = thread->block->shared;
    blockIdx = thread->block->index;
  }
}

// leave() for threads at barriers and collectives: inlined, as these are most of all switches. The stacks of
// 256 threads don't fit into the L1 cache, so the memory of the thread after the next is fetched ahead.
inline void leave_quickly(Worker& w, Thread* thread) {
  if (__builtin_expect(w.starting < w.resident_count || w.head == w.tail, 0)) return leave(&thread->context);
  ++w.counts.switches;
  Thread* next = w.pop();
  __builtin_prefetch(w.queue[(w.head + 1) & w.mask]);
  if (w.head != w.tail) __builtin_prefetch(w.queue[w.head & w.mask]->context);
  make_current(w, next);
  if (next != thread) simt_switch(&thread->context, next->context);
}
constexpr std::size_t kStackGuard = 16 * 1024;

// ---- block.cpp, warp.cpp ----
void release_barrier(Worker& w, Block& block);
bool wait_for_grid(Worker& w);  // on the main stack; true: something may run again
void worker_finished(Launch& launch);
void lane_returned(Worker& w, Warp& warp);
bool release_active_masks(Worker& w);
void new_epoch(Worker& w);  // something orders the threads of all resident blocks

// ---- launch.cpp ----
std::uint64_t launch_number();               // odd while a launch runs
bool time_out_launch(std::uint64_t number);  // false: it is over
void run_worker(Launch& launch, int number);

// ---- shared.cpp ----
SharedLayout* shared_layout(std::uint32_t kernel);
void attach_shared(Block& block, std::size_t dynamic_bytes);  // gives it an arena if it has none
void check_and_reset_shared(Block& block);                    // after the block: canaries, poison
bool shared_holds(const Block& block, const char* p, std::size_t bytes, std::string* beyond);
std::string describe_shared(const Block& block, const void* address);

// ---- arena.cpp ----
constexpr unsigned char kPoison = 0xff;
const char* kind_name(MemoryKind kind);
bool in_arena(const void* address);
// The live or freed allocation nearest to an address (the one it was probably meant for).
bool nearest_allocation(const void* address, Allocation* found);
void check_canaries(const char* kernel);  // after a launch; reports broken ones
void release_everything();

// ---- checked_races.cpp ----
void settle_doubtful_store();  // of the last thread that ran; may record a failure

// ---- report.cpp ----
[[noreturn]] void fail_at(Site site, const char* slug, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void abandon(Failure failure);            // by the running thread
void record_failure(Launch& launch, Failure failure);  // by a worker's main stack
void print_failure(const Failure& failure, const char* kernel);
Failure failure_here(const char* slug, const std::string& message);
std::string format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string place(Site site);  // "path:LINE"
void count_report();
void set_sticky(cudaError_t error);
cudaError_t error_of(const char* slug);

// ---- symbols.cpp ----
struct Line {
  std::string file;
  int line = 0;
  bool user = false;  // not in simt's own files or the standard library
};
std::vector<Line> lines_of(void* return_address);  // innermost inlined function first
std::string shown_path(const std::string& file);   // relative to the working folder or the repository
std::string source_text(const std::string& file, int line);
std::vector<void*> capture_frames(int most);

// ---- deadlock.cpp, faults.cpp ----
void report_deadlock(Worker& w);
std::string who_waits_where(const Worker& w);
void install_fault_handlers();
void enter_fault_stack();  // of this OS thread
void start_watchdog();

}  // namespace simt
