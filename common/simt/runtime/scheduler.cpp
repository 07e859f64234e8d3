// SPDX-License-Identifier: MIT
//
// Fibers and the blocks that they make up. Threads start on demand: one fiber keeps calling the kernel for
// threads that have not started, and a new fiber begins only when one has to wait. A kernel without barriers
// is a loop.
#include "scheduler.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "memory.h"
#include "report.h"

// The built-in variables. runtime.h declares them const under the same symbols, so that kernels can only read
// them.
__thread uint3 simt_threadIdx __asm__("simt_threadIdx");
__thread uint3 simt_blockIdx __asm__("simt_blockIdx");
__thread dim3 simt_blockDim __asm__("simt_blockDim");
__thread dim3 simt_gridDim __asm__("simt_gridDim");

namespace simt {

thread_local Worker* worker;
thread_local Thread* current;
thread_local Launch* running;
thread_local char* shared_base;
thread_local int ticks_left = 1024;

// ---- stacks ----

struct Stack {
  char* base;  // an inaccessible page, then the stack
  std::size_t size;
  std::size_t color;  // stacks begin at different cache sets
  Context dead;       // where the last switch away from this stack saved it
};

static Stack* take_stack(Worker* w) {
  if (!w->free_stacks.empty()) {
    Stack* stack = w->free_stacks.back();
    w->free_stacks.pop_back();
    return stack;
  }
  const std::size_t size = settings().stack;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
  flags |= MAP_NORESERVE;
#endif
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (base == MAP_FAILED)
    fail("simt-launch", "no memory for the stack of another thread (%zu bytes each)", size);
  mprotect(base, page_size(), PROT_NONE);
  auto* stack =
      new Stack{static_cast<char*>(base), size, w->all_stacks.size() * 272 % 4096 / 16 * 16, nullptr};
  w->all_stacks.push_back(stack);
  return stack;
}

bool in_guard_of_a_stack(const void* address) {
  if (!worker) return false;
  for (const Stack* stack : worker->all_stacks) {
    if (address >= stack->base && address < stack->base + page_size()) return true;
  }
  return false;
}

// ---- switching ----

void set_block_shape(dim3 block, dim3 grid) {
  simt_blockDim = block;
  simt_gridDim = grid;
  shared_base = nullptr;
}

static void set_builtins(Thread* thread) {
  current = thread;
  simt_threadIdx = thread->index;
  shared_base = thread->block->shared;
  simt_blockIdx = thread->block->index;
}

static Thread* next_unstarted(Worker* w) {
  while (w->starting < w->resident) {
    Block& block = *w->blocks[w->starting];
    if (block.started < block.size) return &block.threads[block.order[block.started++]];
    ++w->starting;
  }
  return nullptr;
}

static void fiber_main() {
  Worker* w = worker;
  Stack* stack = w->start_stack;
  Thread* thread = w->start_thread;
  do {
    set_builtins(thread);
    running->kernel->call(running->closure);
    thread_finished(w, thread);
  } while (!running->aborted.load(std::memory_order_relaxed) && (thread = next_unstarted(w)));
  w->free_stacks.push_back(stack);
  ++w->counts.switches;
  if (!running->aborted.load(std::memory_order_relaxed) && w->has_ready()) {
    Thread* next = w->pop();
    set_builtins(next);
    switch_context(&stack->dead, next->context);
  }
  current = nullptr;
  switch_context(&stack->dead, w->main);
  std::abort();  // nobody goes back to a fiber that has ended
}

// Leaves the running context for whatever can run, the scheduler where nothing can.
static void dispatch(Context* from) {
  Worker* w = worker;
  ++w->counts.switches;
  if (!running->aborted.load(std::memory_order_relaxed)) {
    if (Thread* thread = next_unstarted(w)) {
      Stack* stack = take_stack(w);
      w->start_thread = thread;
      w->start_stack = stack;
      switch_context(from, make_context(stack->base + page_size(), stack->size - page_size() - stack->color,
                                        fiber_main));
      return;
    }
    if (w->has_ready()) {
      Thread* next = w->pop();
      set_builtins(next);
      if (&next->context != from) switch_context(from, next->context);
      return;
    }
  }
  current = nullptr;
  switch_context(from, w->main);
}

void wait_here() {
  dispatch(&current->context);
}

void yield_here() {
  Worker* w = worker;
  if (!w->has_ready() && w->starting >= w->resident) return;
  w->push(current);
  dispatch(&current->context);
}

void make_ready(Thread* thread) {
  thread->state = State::ready;
  if (thread != current) worker->push(thread);
}

void abandon() {
  running->aborted = true;
  Context nowhere;
  current = nullptr;
  switch_context(&nowhere, worker->main);
  std::abort();
}

// ---- barriers ----

static void release_barrier(Worker* w, Block& block) {
  ++block.generation;
  ++w->changes;
  ++w->counts.barriers;
  block.predicate_result[block.generation & 1] = block.predicate_true;
  block.participants_result[block.generation & 1] = block.arrived;
  block.predicate_true = 0;
  block.arrived = 0;
  for (unsigned i : block.order) {
    if (block.threads[i].state == State::at_barrier) make_ready(&block.threads[i]);
  }
}

[[gnu::noinline]] static void different_barriers(Block& block, const void* here) {
  for (Thread& other : block.threads) {
    if (other.state != State::at_barrier || other.site == here) continue;
    fail_at(here, "simt-barrier-divergence",
            "diverged __syncthreads: thread (%u,%u,%u) waits at another one, %s", other.index.x,
            other.index.y, other.index.z, place(other.site).c_str());
  }
}

static void arrive(const void* site) {
  Block& block = *current->block;
  Thread* thread = current;
  if (block.live != block.size) {
    fail_at(site, "simt-barrier-divergence",
            "diverged __syncthreads: %u of the block's %u threads have returned and never arrive",
            block.size - block.live, block.size);
  }
  thread->state = State::at_barrier;
  thread->site = site;
  ++block.arrived;
  if (block.arrived == block.size) {
    different_barriers(block, site);
    release_barrier(worker, block);
  } else {
    wait_here();
  }
}

void sync_threads() {
  arrive(__builtin_return_address(0));
}

int sync_threads_reduce(Reduce operation, int predicate) {
  Block& block = *current->block;
  if (predicate) ++block.predicate_true;
  const unsigned slot = (block.generation + 1) & 1;
  arrive(__builtin_return_address(0));
  const unsigned count = block.predicate_result[slot];
  switch (operation) {
    case Reduce::count:
      return static_cast<int>(count);
    case Reduce::all:
      return count == block.participants_result[slot];
    default:
      return count != 0;
  }
}

void thread_finished(Worker* w, Thread* thread) {
  Block& block = *thread->block;
  thread->state = State::done;
  thread->warp->exited |= 1u << thread->lane;
  ++w->changes;
  --block.live;
  if (thread->warp->waiting) complete_collectives(w, thread->warp);
  if (block.arrived) {
    const void* site = nullptr;
    for (Thread& other : block.threads) {
      if (other.state == State::at_barrier) site = other.site;
    }
    fail_at(site, "simt-barrier-divergence",
            "diverged __syncthreads: %u threads wait here, but this thread returned without it",
            block.arrived);
  }
  if (!block.live) --w->live_blocks;
}

// ---- progress ----

void tick_slow() {
  ticks_left = 1024;
  if (!current) return;
  check_time_limit();
  if (running->aborted.load(std::memory_order_relaxed)) abandon();
  yield_here();
  if (running->workers > 1) sched_yield();
}

void atomic_point(const volatile void*, std::size_t) {
  if (!current) return;
  ++worker->counts.atomics;
  tick();
}

void sync_grid() {
  if (!current || !running->config.cooperative) {
    fail("simt-launch", "grid synchronisation in a kernel that was not launched cooperatively");
  }
  Launch* launch = running;
  Thread* thread = current;
  const unsigned generation = launch->grid_generation.load();
  const unsigned all = static_cast<unsigned>(launch->blocks * thread->block->size);
  thread->site = __builtin_return_address(0);
  if (launch->grid_arrived.fetch_add(1) + 1 == all) {
    launch->grid_arrived = 0;
    ++launch->grid_generation;
    ++worker->changes;
    return;
  }
  while (launch->grid_generation.load() == generation) {
    thread->state = State::polling;
    worker->polling.push_back(thread);
    wait_here();
    thread->state = State::ready;
  }
}

void drop_fibers(Worker* w) {
  w->free_stacks = w->all_stacks;
  for (auto& block : w->blocks) block->shape = dim3(0, 0, 0);
}

// ---- running resident blocks ----

void run_resident_blocks(Worker* w) {
  w->starting = 0;
  w->head = w->tail = 0;
  w->polling.clear();
  w->live_blocks = static_cast<unsigned>(w->resident);
  std::uint64_t seen = ~std::uint64_t{0};
  auto poll_again = [&] {
    for (Thread* thread : w->polling) w->push(thread);
    w->polling.clear();
  };
  while (!running->aborted.load(std::memory_order_relaxed)) {
    if (w->starting < w->resident || w->has_ready()) {
      dispatch(&w->main);
    } else if (!w->live_blocks) {
      break;
    } else if (release_active_masks(w)) {
    } else if (!w->polling.empty() && w->changes != seen) {
      seen = w->changes;
      poll_again();
    } else if (!w->polling.empty() && running->workers > 1) {
      check_time_limit();
      usleep(20);
      poll_again();
    } else {
      report_deadlock(w);
      running->aborted = true;
    }
  }
  current = nullptr;
}

}  // namespace simt
