// SPDX-License-Identifier: MIT
//
// Fibers and the loop of a worker. Threads start on demand: one fiber calls the kernel for one thread after
// another, and a further fiber starts only when a thread blocks. A kernel without barriers is a plain loop.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "copies_under_way.h"
#include "doubts.h"
#include "ordering.h"
#include "permutation.h"
#include "shared_memory.h"
#include "warpgroup_products.h"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace simt {

__thread Worker* worker;
__thread Thread* current;
__thread std::uint64_t hot_mark;
__thread bool own_work;
__thread char* shared_base;
__thread std::uint32_t kernel_id;
__thread int ticks_left;
__thread std::uint64_t atomics_done;

namespace {

constexpr int kTicksBeforeYield = 128;
constexpr unsigned kFruitlessPolls = 10000;

// ---- stacks ----

// Different fibers' hot frames would all fall into the same cache sets if every stack began at a page's end.
std::size_t stack_color(std::size_t index) {
  return index * 5 * 64 % 4096;
}

// Inaccessible addresses for a stack, a worker's next to each other: what lies between two of its stacks is a stack.
// A worker that has more of them than that takes further addresses, wherever they are.
void* stack_addresses(Worker& w, std::size_t bytes) {
  constexpr std::size_t kReserved = std::size_t{16} << 30;
  const auto reserve = [](std::size_t n) {
    void* memory = mmap(nullptr, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  };
  if (w.stacks.empty() && (w.stacks_left = reserve(kReserved))) w.stacks_end = w.stacks_left + kReserved;
  if (static_cast<std::size_t>(w.stacks_end - w.stacks_left) < bytes) return reserve(bytes);
  w.stacks_left += bytes;
  return w.stacks_left - bytes;
}

Stack* take_stack(Worker& w) {
  if (!w.free_stacks.empty()) {
    Stack* stack = w.free_stacks.back();
    w.free_stacks.pop_back();
    return stack;
  }
  const std::size_t bytes = options().stack_bytes;
  void* memory = stack_addresses(w, kStackGuard + bytes);
  if (!memory || mprotect(static_cast<char*>(memory) + kStackGuard, bytes, PROT_READ | PROT_WRITE) != 0) {
    std::fprintf(stderr, "simt: no memory for the stack of a thread; a smaller block or SIMT_STACK helps\n");
    std::_Exit(1);
  }
  char* base = static_cast<char*>(memory);
  Stack* stack = new Stack{base, base + kStackGuard + bytes - stack_color(w.stacks.size()), nullptr};
  w.stacks.push_back(stack);
  const auto begin = reinterpret_cast<std::uintptr_t>(base), end = begin + kStackGuard + bytes;
  const std::uintptr_t last = w.stacks_span == 0 ? end : std::max(end, w.stacks_begin + w.stacks_span);
  w.stacks_begin = w.stacks_span == 0 ? begin : std::min(begin, w.stacks_begin);
  w.stacks_span = last - w.stacks_begin;
  return stack;
}

// ---- threads ----

Thread* next_unstarted(Worker& w) {
  for (; w.starting < w.resident_count; ++w.starting) {
    Block& block = *w.resident[w.starting];
    if (block.started < block.size) return block.order[block.started++];
  }
  return nullptr;
}

void finish(Worker& w, Thread* thread) {
  Block& block = *thread->block;
  Warp& warp = *thread->warp;
  thread->state = State::done;
  ++w.progress;
  if (__builtin_expect(block.async != nullptr, 0)) finish_thread_copies(*thread);
  warp.returned |= 1u << thread->lane;
  if (warp.waiting) lane_returned(w, warp);
  if (__builtin_expect(w.cluster_arrived > 0, 0)) leave_cluster(w, *thread);
  if (--block.live == 0) {
    --w.live_blocks;
  } else if (w.launch->without_returned && --block.expected == block.arrived) {
    set_current(nullptr);  // so that the barrier wakes every thread
    release_barrier(w, block);
  }
}

// The entry of every fiber.
void run_threads() {
  Worker& w = *worker;
  Stack* stack = w.first_stack;
  const Launch& launch = *w.launch;
  for (Thread* thread = w.first_thread; thread; thread = next_unstarted(w)) {
    thread->state = State::running;
    thread->stack = stack->base;
    ticks_left = kTicksBeforeYield;
    make_current(w, thread);
    launch.kernel->call(launch.closure);
    finish(w, thread);
    if (w.stopped()) break;
  }
  w.free_stacks.push_back(stack);  // free once this fiber has left it; nothing unstarted is left to take it
  leave(&stack->finished);
  std::abort();
}

// Threads in wait() look again if anything has happened since they last did.
bool retry_waiters(Worker& w) {
  if ((w.waiters.empty() && w.pollers.empty()) || w.progress == w.progress_seen) return false;
  w.progress_seen = w.progress;
  w.fruitless_polls = 0;
  for (Thread* thread : w.waiters) resume_later(w, thread);
  for (Thread* thread : w.pollers) resume_later(w, thread);
  w.waiters.clear();
  w.pollers.clear();
  return true;
}

// Nothing has happened: threads in poll() get the answer no, for a while.
bool disappoint_pollers(Worker& w) {
  if (w.pollers.empty() || ++w.fruitless_polls > kFruitlessPolls) return false;
  for (Thread* thread : w.pollers) resume_later(w, thread);
  w.pollers.clear();
  return true;
}

}  // namespace

void Worker::push_all(Thread* const* threads, std::size_t count) {
  const std::size_t start = tail & mask;
  const std::size_t first = std::min(count, mask + 1 - start);  // up to the ring's end
  std::memcpy(queue + start, threads, first * sizeof *threads);
  std::memcpy(queue, threads + first, (count - first) * sizeof *threads);
  tail += count;
}

void leave(Context* save) {
  Worker& w = *worker;
  ++w.counts.switches;
  if (__builtin_expect(!w.stopped(), 1)) {
    if (w.starting < w.resident_count) {
      if (Thread* thread = next_unstarted(w)) {
        w.first_thread = thread;
        w.first_stack = take_stack(w);
        Stack* stack = w.first_stack;
        simt_switch(save, make_context(stack->top, stack->top - stack->base - kStackGuard, run_threads));
        return;
      }
    }
    if (w.runnable()) {
      Thread* thread = w.pop();
      make_current(w, thread);
      if (&thread->context != save) simt_switch(save, thread->context);
      return;
    }
  }
  if (__builtin_expect(tracing, 0)) trace_switch(nullptr);
  set_current(nullptr);
  if (save != &w.main) simt_switch(save, w.main);
}

std::vector<void*> frames_of(Worker& w, Thread& thread) {
  if (&thread == current) return capture_frames(kFrames);
  std::vector<void*> frames;
  w.witness = &thread;
  w.testimony = &frames;
  simt_switch(&w.asker, thread.context);
  return frames;
}

__attribute__((noinline)) void testify(Worker& w, Thread* thread) {
  *w.testimony = capture_frames(kFrames);
  w.witness = nullptr;
  simt_switch(&thread->context, w.asker);
}

void run_resident(Worker& w) {
  std::size_t threads = 0;
  for (const Block* block : w.resident) threads += block->size;
  if (w.mask < threads) {
    std::size_t capacity = 64;
    while (capacity < threads + 1) capacity *= 2;
    delete[] w.queue;
    w.queue = new Thread*[capacity]();
    w.mask = capacity - 1;
  }
  w.head = w.tail = 0;
  w.resident_count = w.resident.size();
  w.current_block = nullptr;
  w.starting = 0;
  w.live_blocks = w.resident.size();
  w.waiters.clear();
  w.pollers.clear();
  w.fruitless_polls = 0;
  w.cluster_arrived = 0;
  w.signalled = false;
  while (!w.stopped()) {
    if (__builtin_expect(w.launch->looks.load(std::memory_order_relaxed) != w.pace.answered, 0))
      look_for_progress(w);
    if (w.starting < w.resident_count || w.runnable()) {
      leave(&w.main);
    } else if (w.live_blocks == 0) {
      for (Block* block : w.resident) {
        if (block->async) finish_block_copies(*block);
        if (block->products) finish_block_products(*block);
      }
      if (checked_build) settle_cluster();
      return;
    } else if (!release_active_masks(w) && !retry_waiters(w) && !land_copies(w) && !disappoint_pollers(w) &&
               !wait_for_grid(w)) {
      report_deadlock(w);
    }
  }
  forget_copies(w);
  if (checked_build) settle_cluster();
  // Abandoned: whatever the fibers were doing, their stacks are free again.
  w.free_stacks = w.stacks;
}

void set_up_block(Worker& w, Block& block, std::uint64_t linear, uint3 index) {
  const Launch& launch = *w.launch;
  const dim3 shape = launch.block;
  const unsigned size = launch.threads;
  block.index = index;
  block.linear = linear;
  if (block.shape.x != shape.x || block.shape.y != shape.y || block.shape.z != shape.z) {
    block.shape = shape;
    block.size = size;
    block.threads.assign(size, Thread());
    block.warps.assign((size + 31) / 32, Warp());
    block.order.assign(size, nullptr);
    for (unsigned i = 0; i < size; ++i) {
      Thread& thread = block.threads[i];
      thread.block = &block;
      thread.warp = &block.warps[i / 32];
      thread.index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
      thread.linear = static_cast<std::uint16_t>(i);
      thread.lane = i % 32;
    }
    for (unsigned i = 0; i < block.warps.size(); ++i) {
      Warp& warp = block.warps[i];
      warp.id = i;
      warp.threads = &block.threads[i * 32];
      const unsigned lanes = std::min(32u, size - i * 32);
      warp.present = lanes == 32 ? ~0u : (1u << lanes) - 1;
    }
  }
  const Order order = options().order;
  if (order == Order::shuffle) {
    const Permutation permuted(size, options().seed + linear);
    for (unsigned i = 0; i < size; ++i) block.order[i] = &block.threads[permuted(i)];
  } else if (block.order[0] != &block.threads[order == Order::reversed ? size - 1 : 0] ||
             block.order_kind != order) {
    for (unsigned i = 0; i < size; ++i)
      block.order[i] = &block.threads[order == Order::reversed ? size - 1 - i : i];
  }
  block.order_kind = order;
  for (Warp& warp : block.warps) warp.returned = warp.waiting = warp.agreed = warp.segment = 0;
  block.first_segment = block.ordered = block.proxy_fenced = w.next_segment;
  block.acquired = 0;
  block.last_barrier = {};
  block.has_waited = block.looked = false;
  block.started = block.arrived = block.voted_true = block.votes = 0;
  block.live = block.expected = size;
  block.cluster_phases.clear();
  block.cluster_waited = 0;
  if (block.named) end_named_barriers(block);
  attach_shared(block, launch.dynamic_shared);
  if (tracing) trace_block_begins(block);
}

// ---- loops that wait ----

// To the main stack, by a path that leaves the same bytes on the thread's stack each time.
static __attribute__((noinline)) void stop_for_look(Worker& w, Thread* thread) {
  w.push(thread);
  if (__builtin_expect(tracing, 0)) trace_switch(nullptr);
  set_current(nullptr);
  simt_switch(&thread->context, w.main);
}

void tick_slow() {
  ticks_left = kTicksBeforeYield;
  Thread* thread = current;
  if (!thread) return;  // host code
  Worker& w = *worker;
  if (w.launch->stuck.load(std::memory_order_relaxed)) {
    fail("simt-hang", "every thread that can run waits in a loop, and nobody changes what it waits for\n%s",
         who_waits_where(w).c_str());
  }
  if (w.launch->timed_out.load(std::memory_order_relaxed)) {
    fail("simt-hang", "the kernel runs for more than %g s\n%s", options().timeout_seconds,
         who_waits_where(w).c_str());
  }
  if (w.pace.looking || w.launch->looks.load(std::memory_order_relaxed) != w.pace.answered)
    return stop_for_look(w, thread);
  if (!w.runnable() && w.starting >= w.resident_count) {
    // Nothing else to run here: what this thread waits for, if it does, another worker must do.
    if (++w.slow_ticks % 16 == 0 && w.launch->workers > 1) sched_yield();
    if (!w.stopped()) {
      if (!retry_waiters(w) && land_copies(w)) retry_waiters(w);
      if (!w.runnable()) return;
    }
  } else if (++w.slow_ticks % 64 == 0 && !w.stopped()) {
    // Threads that spin keep each other busy, and may do so for something that a waiter or a copy brings.
    land_copies(w);
    retry_waiters(w);
  }
  w.push(thread);
  leave(&thread->context);
}

namespace {
void wait_among(std::vector<Thread*>& threads, Site site) {
  Thread* thread = current;
  thread->state = State::waiting;
  thread->site = site;
  threads.push_back(thread);
  leave(&thread->context);
  if (checked_build) note_acquire();
}
}  // namespace

void wait(Site site) {
  if (!current) fail("simt-launch", "a device-side wait outside a kernel");
  wait_among(worker->waiters, site);
}

void poll(Site site) {
  wait_among(worker->pollers, site);
}

void notify() {
  if (!worker) return;
  ++worker->progress;
  if (!checked_build) return;
  worker->signalled = true;
  order_resident(*worker);
  note_release();  // for waiters on other cores
}

bool in_kernel() {
  return current != nullptr;
}
unsigned lane_id() {
  return current->lane;
}
unsigned warp_id() {
  return current->warp->id;
}

}  // namespace simt
