// SPDX-License-Identifier: MIT
//
// A block's sixteen barriers by number (bar.sync, bar.arrive, bar.red), and the cluster's barrier, whose two
// halves may stand apart.
#include "async.h"
#include "ordering.h"

namespace simt {

struct NamedBarrier {
  unsigned expected = 0;  // threads of the phase that fills; 0: nobody has come
  unsigned arrived = 0;
  unsigned voted_true = 0, votes = 0;
  unsigned result_true = 0, result_votes = 0;  // of the last phase that ended
  Site first;                                  // of that phase's first thread
  std::vector<Thread*> waiting;
};

struct NamedBarriers {
  NamedBarrier barrier[16];
  std::vector<std::uint8_t> waits_at;  // of each thread
};

namespace {

NamedBarrier& barrier_of(Block& block, std::uint32_t id, Site site) {
  if (id > 15) fail_at(site, "simt-barrier-divergence", "barrier %u: a block has barriers 0 to 15", id);
  if (!block.named) block.named = new NamedBarriers;
  block.named->waits_at.resize(block.size);
  return block.named->barrier[id];
}

void end_phase(Worker& w, NamedBarrier& barrier) {
  barrier.result_true = barrier.voted_true;
  barrier.result_votes = barrier.votes;
  barrier.expected = barrier.arrived = barrier.voted_true = barrier.votes = 0;
  ++w.progress;
  ++w.counts.barriers;
  order_resident(w);
  for (Thread* thread : barrier.waiting) {
    if (thread == current) {
      thread->state = State::running;
    } else {
      resume_later(w, thread);
    }
  }
  barrier.waiting.clear();
}

// Counts the running thread. True: it was the last one.
bool arrive(NamedBarrier& barrier, std::uint32_t id, std::uint32_t threads, Site site) {
  const Block& block = *current->block;
  if (threads == 0 || threads % 32 != 0 || threads > (block.size + 31) / 32 * 32) {
    fail_at(site, "simt-barrier-divergence",
            "barrier %u for %u threads\nThe number must be a multiple of 32, at most the block's %u.", id,
            threads, block.size);
  }
  if (barrier.expected == 0) {
    barrier.expected = std::min(threads, block.size);
    barrier.first = site;
  } else if (barrier.expected != std::min(threads, block.size)) {
    fail_at(site, "simt-barrier-divergence",
            "threads name different numbers of threads at barrier %u\nThis thread: %u.\n%s  %u, named by the "
            "first "
            "of %u that came",
            id, threads, place(barrier.first).c_str(), barrier.expected, barrier.arrived);
  }
  return ++barrier.arrived == barrier.expected;
}

void wait_at(NamedBarrier& barrier, std::uint32_t id, std::uint32_t threads, Site site) {
  Thread* thread = current;
  const bool last = arrive(barrier, id, threads, site);
  barrier.waiting.push_back(thread);
  thread->site = site;
  thread->state = State::named_barrier;
  thread->block->named->waits_at[thread->linear] = static_cast<std::uint8_t>(id);
  if (last) {
    end_phase(*worker, barrier);
  } else {
    leave(&thread->context);
  }
}

// Barrier 0 of the whole block is the one of __syncthreads().
bool is_block_barrier(std::uint32_t id, std::uint32_t threads) {
  return id == 0 && (threads == 0 || threads == current->block->size);
}

std::uint32_t threads_or_block(std::uint32_t threads) {
  return threads ? threads : (current->block->size + 31) / 32 * 32;
}

}  // namespace

void bar_sync(std::uint32_t id, std::uint32_t threads, Site site) {
  if (!current) fail("simt-launch", "bar.sync outside a kernel");
  if (is_block_barrier(id, threads)) return sync_threads(site);
  wait_at(barrier_of(*current->block, id, site), id, threads_or_block(threads), site);
}

void bar_arrive(std::uint32_t id, std::uint32_t threads, Site site) {
  if (!current) fail("simt-launch", "bar.arrive outside a kernel");
  NamedBarrier& barrier = barrier_of(*current->block, id, site);
  if (arrive(barrier, id, threads_or_block(threads), site)) end_phase(*worker, barrier);
}

int bar_red(std::uint32_t id, std::uint32_t threads, Vote vote, int predicate, Site site) {
  if (!current) fail("simt-launch", "bar.red outside a kernel");
  if (is_block_barrier(id, threads)) return sync_threads_vote(vote, predicate, site);
  NamedBarrier& barrier = barrier_of(*current->block, id, site);
  ++barrier.votes;
  barrier.voted_true += predicate != 0;
  wait_at(barrier, id, threads_or_block(threads), site);
  if (vote == Vote::count) return static_cast<int>(barrier.result_true);
  return vote == Vote::all ? barrier.result_true == barrier.result_votes : barrier.result_true != 0;
}

// A block starts anew.
void end_named_barriers(Block& block) {
  for (NamedBarrier& barrier : block.named->barrier) barrier = NamedBarrier();
}

std::string describe_named_barrier(const Thread& thread) {
  const unsigned id = thread.block->named->waits_at[thread.linear];
  const NamedBarrier& barrier = thread.block->named->barrier[id];
  return format_text("; %u of the %u threads that barrier %u needs have come", barrier.arrived,
                     barrier.expected, id);
}

// ---- the cluster: a phase ends once every thread that has not returned has arrived ----

namespace {

unsigned cluster_threads(const Worker& w) {
  unsigned live = 0;
  for (const Block* block : w.resident) live += block->live;
  return live;
}

void end_cluster_phase(Worker& w) {
  w.cluster_arrived = 0;
  ++w.cluster_phase;
  ++w.progress;
  order_resident(w);
  for (Block* block : w.resident) {
    for (Thread* thread : block->order)
      if (thread->state == State::cluster && thread != current) resume_later(w, thread);
  }
}

std::uint64_t& phase_of(const Thread& thread) {
  std::vector<std::uint64_t>& phases = thread.block->cluster_phases;
  phases.resize(thread.block->size);
  return phases[thread.linear];
}

constexpr std::uint64_t kNotArrived = 0;  // else the phase's number + 1

}  // namespace

void cluster_arrive(Site site) {
  if (!current) fail("simt-launch", "a cluster's barrier outside a kernel");
  Worker& w = *worker;
  std::uint64_t& phase = phase_of(*current);
  if (phase != kNotArrived)
    fail_at(site, "simt-barrier-divergence",
            "barrier.cluster.arrive twice, without barrier.cluster.wait in between");
  phase = w.cluster_phase + 1;
  if (++w.cluster_arrived == cluster_threads(w)) end_cluster_phase(w);
}

void cluster_wait(Site site) {
  if (!current) fail("simt-launch", "a cluster's barrier outside a kernel");
  Worker& w = *worker;
  Thread* thread = current;
  std::uint64_t& phase = phase_of(*thread);
  if (phase == kNotArrived)
    fail_at(site, "simt-barrier-divergence", "barrier.cluster.wait without barrier.cluster.arrive before it");
  const bool over = phase <= w.cluster_phase;
  thread->block->cluster_waited = std::max(thread->block->cluster_waited, phase);
  phase = kNotArrived;
  if (over) return;
  thread->state = State::cluster;
  thread->site = site;
  leave(&thread->context);
}

void sync_cluster(Site site) {
  if (worker && worker->launch->cooperative) return sync_threads(site);  // clusters of one block
  cluster_arrive(site);
  cluster_wait(site);
}

std::uint64_t next_cluster_phase(const Thread& thread) {
  const std::uint64_t arrived_for = phase_of(thread);
  return (arrived_for == kNotArrived ? worker->cluster_phase : arrived_for) + 1;
}

// Called while `live` still counts the thread.
void leave_cluster(Worker& w, const Thread& returned) {
  if (phase_of(returned) == w.cluster_phase + 1) --w.cluster_arrived;
  if (w.cluster_arrived > 0 && w.cluster_arrived == cluster_threads(w) - 1) end_cluster_phase(w);
}

}  // namespace simt
