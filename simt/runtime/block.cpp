// SPDX-License-Identifier: MIT
//
// Barriers: of a block, of a cluster, of a cooperative grid.
#include <cstdio>

#include "ordering.h"

namespace simt {
namespace {

bool same_place(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

[[noreturn]] __attribute__((noinline)) void fail_different(const Block& block, Site site) {
  const bool one = block.arrived == 1;
  fail_at(site, "simt-barrier-divergence",
          "threads of one block wait at different barriers\n"
          "%s  the barrier where %u other thread%s of the block wait%s",
          place(block.barrier_site).c_str(), block.arrived, one ? "" : "s", one ? "s" : "");
}

// The running thread waits until all of its block have come.
inline void meet(Worker& w, Thread* thread, Block& block, Site site) {
  if (block.arrived == 0) {
    block.barrier_site = site;
  } else if (__builtin_expect(!same_place(site, block.barrier_site), 0)) {
    fail_different(block, site);
  }
  thread->state = State::barrier;
  thread->site = site;
  if (++block.arrived == block.expected) release_barrier(w, block);
  leave_quickly(w, thread);
  testify_if_asked(w, thread);
  thread->state = State::running;
}

Thread* calling_thread() {
  Thread* thread = current;
  if (__builtin_expect(!thread, 0)) fail("simt-launch", "a barrier outside a kernel");
  return thread;
}

}  // namespace

namespace {

// Once a kernel: a GPU lets the others go on, but most of those who write this did not mean it.
void tell_of_returned(Launch& launch, const Block& block) {
  std::lock_guard<std::mutex> lock(launch.mutex);
  if (launch.kernel->told_returned || options().lenient) return;
  launch.kernel->told_returned = true;
  std::fprintf(
      stderr,
      "note: kernel %s: %u of %u threads have returned before the barrier at %s\n"
      "A GPU lets the others pass it since sm_70, and so does this build; a checked one reports it.\n",
      launch.kernel->name, block.size - block.expected, block.size, place(block.barrier_site).c_str());
}

}  // namespace

// All threads of the block become runnable, in its order.
void release_barrier(Worker& w, Block& block) {
  block.arrived = 0;
  if (__builtin_expect(checked_build, 0)) {
    order_block(w, block);
    block.last_barrier = block.barrier_site;
    block.looked = false;
  }
  block.result_true = block.voted_true;
  block.result_votes = block.votes;
  block.voted_true = block.votes = 0;
  ++w.progress;
  ++w.counts.barriers;
  if (__builtin_expect(tracing, 0)) trace_barrier(block.barrier_site);
  if (__builtin_expect(block.expected == block.size, 1)) {
    w.push_all(block.order.data(), block.size);
  } else {
    tell_of_returned(*w.launch, block);
    for (Thread* thread : block.order)
      if (thread->state == State::barrier) w.push(thread);
  }
}

void sync_threads(Site site) {
  Thread* thread = calling_thread();
  meet(*worker, thread, *thread->block, site);
}

int sync_threads_vote(Vote vote, int predicate, Site site) {
  Thread* thread = calling_thread();
  Block& block = *thread->block;
  ++block.votes;
  block.voted_true += predicate != 0;
  meet(*worker, thread, block, site);
  switch (vote) {
    case Vote::count:
      return static_cast<int>(block.result_true);
    case Vote::all:
      return block.result_true == block.result_votes;
    case Vote::any:
      return block.result_true != 0;
  }
  return 0;
}

// ---- clusters: all their blocks are resident on one worker ----

dim3 cluster_dim() {
  return worker->launch->cluster;
}

unsigned cluster_rank() {
  const dim3 size = cluster_dim();
  const uint3 index = current->block->index;
  return index.x % size.x + size.x * (index.y % size.y + size.y * (index.z % size.z));
}

void* map_shared(const void* address, unsigned rank) {
  Worker& w = *worker;
  if (w.launch->cooperative || rank >= w.resident.size()) {
    fail("simt-launch", "rank %u is not in this block's cluster of %zu", rank,
         w.launch->cooperative ? std::size_t{1} : w.resident.size());
  }
  // The resident blocks of a cluster stand in the order of their ranks.
  return w.resident[rank]->shared + (static_cast<const char*>(address) - current->block->shared);
}

// ---- cooperative grids: every worker holds its share of the blocks ----

bool is_cooperative() {
  return worker && worker->launch->cooperative;
}

namespace {

bool anyone_at_grid_barrier(const Worker& w) {
  for (const Block* block : w.resident)
    for (const Thread* thread : block->order)
      if (thread->state == State::grid) return true;
  return false;
}

void resume_grid_threads(Worker& w) {
  ++w.progress;
  if (checked_build) begin_segments(w);
  for (Block* block : w.resident)
    for (Thread* thread : block->order)
      if (thread->state == State::grid && thread != current) resume_later(w, thread);
}

}  // namespace

void sync_grid(Site site) {
  Thread* thread = calling_thread();
  Worker& w = *worker;
  Launch& launch = *w.launch;
  if (!launch.cooperative)
    fail_at(site, "simt-launch", "grid.sync() in a kernel that was not launched cooperatively");
  {
    std::lock_guard<std::mutex> lock(launch.mutex);
    if (++launch.grid_arrived < launch.blocks * launch.threads) {
      thread->state = State::grid;
      thread->site = site;
    } else {
      launch.grid_arrived = 0;
      launch.idle_workers = 0;
      order_grid(launch);
      w.grid_generation = ++launch.grid_generation;
      launch.grid_changed.notify_all();
    }
  }
  if (thread->state == State::grid) {
    leave(&thread->context);
  } else {
    resume_grid_threads(w);
  }
}

// Called when nothing can run here. If threads wait for the grid, waits until other workers complete its
// barrier; when all workers are idle, nobody ever will.
bool wait_for_grid(Worker& w) {
  Launch& launch = *w.launch;
  if (!launch.cooperative || !anyone_at_grid_barrier(w)) return false;
  std::unique_lock<std::mutex> lock(launch.mutex);
  if (launch.grid_generation == w.grid_generation) {
    if (++launch.idle_workers + launch.finished_workers == launch.workers) {
      launch.deadlocked = true;
      launch.grid_changed.notify_all();
    }
    WorkerLook& look = launch.found[static_cast<std::size_t>(w.number)];
    look.at_grid_barrier = true;
    launch.grid_changed.wait(lock, [&] {
      return launch.grid_generation != w.grid_generation || launch.deadlocked || launch.stops(0);
    });
    look.at_grid_barrier = false;
    if (launch.grid_generation == w.grid_generation) return launch.stops(0);
  }
  w.grid_generation = launch.grid_generation;
  lock.unlock();
  resume_grid_threads(w);
  return true;
}

void worker_finished(Launch& launch) {
  std::lock_guard<std::mutex> lock(launch.mutex);
  ++launch.finished_workers;
  if (launch.idle_workers > 0 && launch.idle_workers + launch.finished_workers == launch.workers) {
    launch.deadlocked = true;
    launch.grid_changed.notify_all();
  }
}

}  // namespace simt
