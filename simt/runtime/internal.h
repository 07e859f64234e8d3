// SPDX-License-Identifier: MIT
//
// What the runtime's files share: threads, warps, blocks, workers and launches. Nothing here is seen by
// users. They are compiled some at a time, by ../units.
//
//   options.cpp  what the environment says
//   launch.cpp   checks a configuration, hands blocks to the workers
//   streams.cpp, stream_order.cpp  queues of operations, and what orders them
//   worker.cpp   a worker's loop over the blocks it holds; fibers; yields
//   spinning.cpp launches whose threads wait in loops for what nobody will write
//   block.cpp    __syncthreads, cluster and grid barriers
//   warp.cpp     warp collectives
//   shared.cpp   shared memory of the resident blocks
//   arena.cpp    device memory
//   report.cpp, symbols.cpp, deadlock.cpp, faults.cpp, errors.cpp   everything that goes wrong
//   async*.cpp, mbarrier.cpp, bulk_copies.cpp, tensor_copies.cpp   copies that land late (async.h)
//   named_barriers.cpp  bar.sync and its kind, the cluster's barrier
//   checked*.cpp, shadow.cpp, bounds.cpp, early_reads.cpp   the checked build's view of each memory access
//   trace*.cpp   what a traced build counts of it (trace.h)
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "context.h"
#include "spinning.h"
#define SIMT_RUNTIME_SOURCE
#include "simt/runtime.h"

namespace simt {

struct AsyncCopies;
struct Block;
struct NamedBarriers;
struct Warp;
struct Worker;

// Where the program, or the shared library that the runtime is part of, begins in memory: the linker's symbol.
#ifdef __APPLE__
extern "C" const char module_begin[] __asm__("__executable_start");
#else
extern "C" __attribute__((visibility("hidden"))) const char module_begin[] __asm__("__ehdr_start");
#endif

inline std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

enum class State : std::uint8_t {
  running,
  barrier,
  named_barrier,
  warp,
  active_mask,
  waiting,
  cluster,
  grid,
  done
};

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
  std::uint32_t epoch = 0;    // changes with each __syncwarp (checked builds use these two)
  std::uint32_t segment = 0;  // 0: the next access begins one (shadow.h)
  std::uint32_t met = 0;      // the last segment in which lanes met at a shuffle or vote, or used an atomic
  std::uint32_t present;      // lanes that exist
  std::uint32_t returned;
  std::uint32_t waiting;  // at a collective
  // Of those that wait, lanes that are known to agree with each other, and the last that joined them.
  std::uint32_t agreed = 0;
  int agreed_lane = 0;
  unsigned id;
  Thread* threads;  // of lane 0
  Lane lanes[32];
};

struct Block {
  uint3 index = {~0u, ~0u, ~0u};
  std::uint64_t linear = 0;  // in the grid
  unsigned size = 0;         // threads
  unsigned started = 0, live = 0;
  unsigned expected = 0;                       // at a barrier: all threads, or those that have not returned
  unsigned arrived = 0;                        // at the barrier
  Site barrier_site;                           // of the first that arrived
  unsigned voted_true = 0, votes = 0;          // of the barrier that fills
  unsigned result_true = 0, result_votes = 0;  // of the last one that completed
  char* shared = nullptr;                      // arena
  char* dynamic = nullptr;                     // start of the dynamic part
  char* dynamic_begin = nullptr;               // with what an alignment may add before it
  std::size_t shared_bytes = 0;                // of the arena
  AsyncCopies* async = nullptr;                // async.h; null until a thread copies asynchronously
  std::vector<std::uint64_t> cluster_phases;   // of each thread, in named_barriers.cpp
  NamedBarriers* named = nullptr;              // named_barriers.cpp; null until one is used
  struct BlockTrace* trace = nullptr;          // trace.cpp; null where nothing is traced
  // Of checked builds (shadow.h): segments from `first_segment` are this block's, those below `ordered` came
  // before its last barrier.
  std::uint32_t first_segment = 0, ordered = 0;
  Site last_barrier;                    // that it completed
  bool looked = false;                  // at a flag, since its last barrier; the look itself may still come
  std::uint32_t acquired = 0;           // fences of the process when this block last looked at a flag
  struct Cell* cells = nullptr;         // a cell for each 4 bytes of the arena
  struct Cell* byte_cells = nullptr;    // and for each byte
  const std::uint8_t* valid = nullptr;  // of each 16 bytes of the arena, how many a variable holds
  dim3 shape = {0, 0, 0};
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Thread*> order;  // in which threads start and leave a barrier
  Order order_kind = Order::normal;
};

// What went wrong in a launch: first in the first of its units that failed.
struct Failure {
  const char* slug = "";
  std::string title, details;  // details: further lines, already formatted
  std::string places;          // instead of site and frames: lines "path:LINE  ...", already formatted
  cudaError_t error = cudaErrorLaunchFailure;
  bool has_thread = false;
  uint3 block = {0, 0, 0}, thread = {0, 0, 0};
  Site site;                  // if known, else the first user frame of:
  std::vector<void*> frames;  // return addresses, innermost first
  bool by_caller = false;     // the place is the one after it: not the kernel's, but its launch's
};

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
  bool without_returned;  // returned_count_as_arrived()
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

struct Stack {
  char* base;  // guard pages, then usable memory up to base + stack_size()
  char* top;
  Context finished;
};

// One OS thread that runs blocks.
struct Worker {
  int number = 0;
  Launch* launch = nullptr;
  std::uint64_t unit = 0;        // that it runs, in the order of handing out; 0 of a cooperative launch
  Context main = nullptr;        // the OS thread's own stack, where run_resident() loops
  std::vector<Block*> resident;  // blocks that run now
  std::size_t resident_count = 0;
  std::size_t starting = 0;  // of resident: the first that has unstarted threads
  std::uint64_t live_blocks = 0;
  Thread** queue = nullptr;  // ring of runnable threads: mask + 1 places
  std::size_t head = 0, tail = 0, mask = 0;
  std::vector<Thread*> waiters;                 // in wait(), until notify()
  std::uint64_t progress = 0;                   // grows with everything that a waiter may wait for
  std::uint64_t progress_seen = 0;              // when the waiters last looked
  std::vector<Thread*> pollers;                 // in poll()
  unsigned fruitless_polls = 0;                 // since anything happened
  std::deque<std::function<void()>> in_flight;  // asynchronous copies that barriers count
  std::size_t pending_copies = 0;               // stretches of shared memory that copies own (checked builds)
  unsigned cluster_arrived = 0;
  std::uint64_t cluster_phase = 0;    // completed barriers of the cluster
  std::uint64_t grid_generation = 0;  // of the grid barrier that this worker's threads wait for
  Thread* first_thread = nullptr;     // of the fiber that starts
  Stack* first_stack = nullptr;
  std::vector<Stack*> free_stacks;
  std::vector<Stack*> stacks;
  std::uintptr_t stacks_begin = 0, stacks_span = 0;  // addresses that hold all of them, and other mappings
  std::vector<Block*> pool;                          // block objects for reuse
  LaunchStats counts;
  const Block* current_block = nullptr;  // whose blockIdx and shared_base are set
  std::uint32_t slow_ticks = 0;
  LookPace pace;
  // Segments of checked builds: those in hand; and the count of events that ordered all resident blocks, now
  // and when these blocks became resident.
  std::uint32_t next_segment = 0, last_segment = 0;
  std::uint32_t wide = 0, resident_wide = 0;

  bool runnable() const { return head != tail; }
  bool stopped() const { return launch->stops(unit); }
  void push(Thread* thread) { queue[tail++ & mask] = thread; }
  void push_all(Thread* const* threads, std::size_t count);
  Thread* pop() { return queue[head++ & mask]; }
};

extern __thread Worker* worker;   // of this OS thread, while it runs a launch
extern __thread Thread* current;  // the running CUDA thread; null on the worker's main stack
// Its mark in the shadow of checked builds (shadow.h), 0 where its next access has to find it out: after each
// change of `current`, and when its segment ends.
extern __thread std::uint64_t hot_mark;
inline void set_current(Thread* thread) {
  current = thread;
  hot_mark = 0;
}

// ---- options.cpp: from the environment ----
struct Options {
  int threads;  // SIMT_THREADS
  Order order;  // SIMT_ORDER
  std::uint64_t seed;
  double timeout_seconds;   // SIMT_TIMEOUT
  std::size_t stack_bytes;  // SIMT_STACK (KiB)
  bool streams_now;         // SIMT_STREAMS=now: operations run at the call
  bool lenient;             // SIMT_LENIENT=1: nothing is said of returned threads, as on a GPU
  bool whole_barriers;      // require_whole_barriers()
};
const Options& options();
// At __syncthreads(): as on GPUs since sm_70, but in checked builds and in the course's own programs.
bool returned_count_as_arrived();

// A bijection of 0 .. n-1 that looks random: a small Feistel network over the next power of four, walked
// along its cycle until it falls inside. Here, for a loop over a block's threads.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed) : n_(n), seed_((seed + 1) * 0xbf58476d1ce4e5b9u) {
    while ((std::uint64_t{1} << 2 * half_bits_) < n) ++half_bits_;
  }
  std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t half_mask = (std::uint64_t{1} << half_bits_) - 1;
    do {
      std::uint64_t left = i >> half_bits_, right = i & half_mask;
      for (std::uint64_t round = 0; round < 4; ++round) {
        std::uint64_t h = (right + 1) * 0x9e3779b97f4a7c15u + seed_ + round * 0x94d049bb133111ebu;
        h = (h ^ h >> 31) * 0xd6e8feb86659fd93u;
        const std::uint64_t next = left ^ (h >> 40 & half_mask);
        left = right;
        right = next;
      }
      i = left << half_bits_ | right;
    } while (i >= n_);
    return i;
  }

 private:
  std::uint64_t n_, seed_;
  unsigned half_bits_ = 1;
};

// ---- trace*.cpp: what traced builds count. All but traced_unit() only while `tracing` ----
extern bool tracing;
void trace_access(const void* address, std::size_t bytes, bool write, const void* place);
void trace_atomic(const volatile void* address, std::size_t bytes, const void* place);
// cp.async: a load of global memory and a store to shared memory, counted like those.
void trace_async_copy(const void* shared, const void* global, std::size_t bytes, std::size_t source_bytes,
                      const void* place);
void trace_bulk_copy(std::size_t bytes);  // by the copy engine, in either direction
void trace_barrier(Site site);            // completed by a block
void trace_switch(const Thread* next);    // before `current` changes; null: to the worker's main stack
void trace_block_begins(Block& block);
void trace_block_ends(Block& block);
void trace_worker_ends(const Launch& launch);
void trace_launch_ends(const Launch& launch);

// ---- worker.cpp ----
void leave(Context* save);     // runs something else, returns when resumed
void run_resident(Worker& w);  // until the resident blocks are done or must stop
void set_up_block(Worker& w, Block& block, std::uint64_t linear, uint3 index);
inline void resume_later(Worker& w, Thread* thread) {
  thread->state = State::running;
  w.push(thread);
}

inline void make_current(Worker& w, Thread* thread) {
  if (__builtin_expect(tracing, 0)) trace_switch(thread);
  set_current(thread);
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
// Like wait(), but returns also when nothing else can happen. Where it does so all the time, that is a hang.
void poll(Site site);

// ---- block.cpp, warp.cpp ----
void release_barrier(Worker& w, Block& block);
bool wait_for_grid(Worker& w);  // on the main stack; true: something may run again
void worker_finished(Launch& launch);
void lane_returned(Worker& w, Warp& warp);
bool release_active_masks(Worker& w);
void leave_cluster(Worker& w, const Thread& returned);  // the others may complete the cluster's barrier
void end_named_barriers(Block& block);
std::string describe_named_barrier(const Thread& thread);

// ---- shadow.cpp: in checked builds, events that order memory accesses (nothing else needs to know) ----
void begin_segments(Worker& w);             // this worker begins its part of a launch
void order_block(Worker& w, Block& block);  // barrier
inline void order_warp(Warp& warp) {        // __syncwarp
  ++warp.epoch;
  warp.segment = 0;
  hot_mark = 0;
}
void note_acquire();                      // the running thread looked at a flag
void order_resident(Worker& w);           // the threads of all resident blocks
void order_grid(Launch& launch);          // all that ran before; called while no thread of it runs
void order_launch(const Launch& launch);  // before it runs
// What a copy or fill writes; `operation`: its number, 0: ordered by itself.
void host_wrote(void* data, std::size_t bytes, std::uint64_t operation);
// Whether no kernel whose order with this operation is open wrote there last; else which one, and where.
bool host_may_use(const void* data, std::size_t bytes, std::uint64_t operation, std::string* kernel,
                  void** place);

// ---- launch.cpp ----
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

// ---- streams.cpp, stream_order.cpp ----
bool finish_everything();  // runs all that is queued; false in a host function of a stream
// The same at the program's end, on a thread of its own: what is thread-local is destroyed in this one.
void finish_at_exit();
// This thread; at the program's end the one that ends it, in whose place another one runs what is queued.
std::thread::id host_that_waits();
// Whether operations are queued, and none runs; the number of the last that was issued.
bool operations_wait(std::uint64_t* last);
bool in_operation();  // this thread runs one: a call of the API from a host function
// There is new memory, which no operation has used yet.
void note_allocated();
// Whether the operation `later`, which runs now, comes after `earlier` in every order that the program
// allows.
bool happens_before(std::uint64_t earlier, std::uint64_t later);

// ---- shared.cpp ----
SharedLayout* shared_layout(std::uint32_t kernel);
void attach_shared(Block& block, std::size_t dynamic_bytes);  // gives it an arena if it has none
void check_and_reset_shared(Block& block);                    // after the block: canaries, poison
bool indexes_shared(const std::string& source);  // whether a line of a kernel indexes a __shared__ variable
bool shared_holds(const Block& block, const char* p, std::size_t bytes, std::string* beyond);
std::size_t shared_memory_of(const void* address);  // which block's, as a number
std::string describe_shared(const Block& block, const void* address);
// The message of a report: what the running thread accesses, and how far off its address is.
std::string misaligned_access(const char* who, bool write, const char* p, std::size_t bytes,
                              std::size_t alignment);
std::string shared_name(const Block& block, const char* p, std::size_t bytes);  // "tile[3][1]"

// ---- arena.cpp ----
constexpr unsigned char kPoison = 0xff;
const char* kind_name(MemoryKind kind);
// "a device buffer of 48 bytes", before it its name where it has one: "b (3 x 4), a device ...".
std::string buffer_text(const Allocation& buffer);
bool in_arena(const void* address);
// The live or freed allocation nearest to an address (the one it was probably meant for).
bool nearest_allocation(const void* address, Allocation* found);
void check_canaries(const char* kernel);  // after a launch; reports broken ones
// Checked builds: makes device memory inaccessible, as far as there is time for it, while no operation may
// use it; and all of it accessible again. Both with the queues' lock held.
void close_device_memory();
void open_device_memory();
void release_everything();
void forget_heap();  // device_heap.cpp: its memory is released

// ---- async_copies.cpp, mbarrier.cpp ----
bool land_copies(Worker& w);                // some that are in flight; false: there are none
void finish_thread_copies(Thread& thread);  // it returns
void finish_block_copies(Block& block);
void forget_copies(Worker& w);          // the launch was abandoned
extern const Collective kMbarrierWait;  // the lane of a thread that waits at one names it by `input`
std::string describe_mbarrier(const std::uint64_t* barrier);
// Whether an asynchronous copy owns some of these bytes of the block's shared memory; and the report of an
// access to them, if it does.
bool async_pending(const Block& block, const void* p, std::size_t bytes);
void check_async_wait(const char* p, std::size_t bytes, bool write, void* caller);

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

// ---- report.cpp ----
[[noreturn]] void fail_at(Site site, const char* slug, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void abandon(Failure failure);            // by the running thread
void record_failure(Launch& launch, Failure failure);  // by a worker's main stack
void print_failure(const Failure& failure, const char* kernel);
Failure failure_here(const char* slug, const std::string& message);
std::string format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Where a byte lies that is `bytes` past the end of something: "right past the end of" for the first one.
std::string past_end_of(std::ptrdiff_t bytes);
std::string place(Site site);  // "path:LINE"
void count_report();
void set_sticky(cudaError_t error);
cudaError_t error_of(const char* slug);
// errors.cpp: sets the error, and reports it at the program's end if nobody asks for it.
void refuse_launch(const Kernel& kernel, dim3 grid, dim3 block, cudaError_t error);

// ---- symbols.cpp ----
struct Line {
  std::string file;
  int line = 0;
  bool user = false;  // not in simt's own files or the standard library
};
std::vector<Line> lines_of(void* return_address);  // innermost inlined function first
std::string shown_path(const std::string& file);   // relative to the working folder or the repository
// One line of a file, empty where it cannot be read; source_text() without its indentation.
std::string source_line(const std::string& file, int line);
std::string source_text(const std::string& file, int line);
std::vector<void*> capture_frames(int most);

// ---- early_reads.cpp: of checked builds ----
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

// ---- deadlock.cpp, faults.cpp ----
void report_deadlock(Worker& w);
std::string who_waits_where(const Worker& w);
void install_fault_handlers();
void enter_fault_stack();  // of this OS thread
void start_watchdog();

}  // namespace simt
