// SPDX-License-Identifier: MIT
//
// A worker is an OS thread that runs blocks: it holds some, and lets their threads take turns. Whatever makes a thread of a kernel
// wait ends here, in leave() or leave_quickly(): they resume the next thread that can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "launches.h"
#include "options.h"
#include "threads.h"
#include "trace_hooks.h"

namespace simt {

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
  std::uint64_t cluster_phase = 0;  // completed barriers of the cluster
  bool signalled = false;  // checked builds: something of its blocks may have waited for more than barriers
  std::uint64_t grid_generation = 0;  // of the grid barrier that this worker's threads wait for
  Thread* first_thread = nullptr;     // of the fiber that starts
  Stack* first_stack = nullptr;
  std::vector<Stack*> free_stacks;
  std::vector<Stack*> stacks;
  std::uintptr_t stacks_begin = 0, stacks_span = 0;  // addresses that hold all of them
  char* stacks_left = nullptr;  // the reserved addresses that no stack has yet, and their end
  char* stacks_end = nullptr;
  std::vector<Block*> pool;  // block objects for reuse
  // frames_of() resumes a thread that waits, so that the thread captures the frames of its own stack. The thread is
  // the witness; it puts the frames into the testimony, and then resumes the asker.
  const Thread* witness = nullptr;
  std::vector<void*>* testimony = nullptr;
  Context asker = nullptr;
  Warp* meeting = nullptr;  // The lanes of this warp have met, and their collective is being completed.
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
// The runtime is at work on a report, or on what it looks at. It calls functions of the standard library, and the
// linker may have taken the copies of them that a .cu file brought, in which the compiler has put calls of the
// checker: those find this flag, and return.
extern __thread bool own_work;  // of this OS thread
struct OwnWork {
  OwnWork() : outer(own_work) {
    own_work = true;
    hot_mark = 0;  // the fast path, which does not ask
  }
  ~OwnWork() {
    own_work = outer;
    hot_mark = 0;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
  const bool outer;
};

inline void set_current(Thread* thread) {
  current = thread;
  hot_mark = 0;
}

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
// The calls that led a thread to the barrier or collective at which it waits. It goes on waiting.
std::vector<void*> frames_of(Worker& w, Thread& thread);
void testify(Worker& w, Thread* thread);
// Behind leave_quickly(), which only then returns for another reason than that the wait is over.
inline void testify_if_asked(Worker& w, Thread* thread) {
  while (__builtin_expect(w.witness == thread, 0)) testify(w, thread);
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
// The phase of the cluster's barrier that ends after what the thread does now.
std::uint64_t next_cluster_phase(const Thread& thread);
std::string describe_named_barrier(const Thread& thread);

}  // namespace simt
