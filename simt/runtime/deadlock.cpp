// SPDX-License-Identifier: MIT
//
// Nothing can run and threads are left: says who waits where, and what kind of mistake it is.
#include <map>

#include "copies_under_way.h"

namespace simt {
namespace {

struct Group {  // threads of one block in the same state at the same line
  unsigned count = 0;
  const Thread* first = nullptr;
};

const char* doing(State state) {
  switch (state) {
    case State::running:
      return "can run";
    case State::barrier:
      return "at __syncthreads()";
    case State::named_barrier:
      return "at a barrier by number";
    case State::warp:
      return "at a warp operation";
    case State::active_mask:
      return "at __activemask()";
    case State::waiting:
      return "waiting for an event";
    case State::cluster:
      return "at the cluster's barrier";
    case State::grid:
      return "at the grid's barrier";
    case State::done:
      return "returned";
  }
  return "";
}

std::string describe_block(const Block& block) {
  std::map<std::pair<State, int>, Group> groups;
  for (unsigned i = 0; i < block.size; ++i) {
    const Thread& thread = block.threads[i];
    const bool at_place = thread.state != State::running && thread.state != State::done;
    Group& group = groups[{thread.state, at_place ? thread.site.line : 0}];
    if (group.count++ == 0) group.first = &thread;
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    const Thread& t = *group.first;
    if (!text.empty()) text += "\n";
    if (key.second) text += place(t.site) + "  ";
    text += format_text("%u thread%s of block (%u,%u,%u) %s%s: thread (%u,%u,%u)%s", group.count,
                        group.count == 1 ? "" : "s", block.index.x, block.index.y, block.index.z,
                        key.first == State::done ? (group.count == 1 ? "has " : "have ") : "",
                        doing(key.first), t.index.x, t.index.y, t.index.z, group.count == 1 ? "" : ", ...");
    if (key.first == State::warp) {
      const Lane& lane = t.warp->lanes[t.lane];
      const std::uint32_t missing = lane.mask & t.warp->present & ~t.warp->waiting & ~t.warp->returned;
      text += format_text("; %s with mask 0x%08x lacks lanes 0x%08x", lane.what->name, lane.mask, missing);
    } else if (key.first == State::named_barrier) {
      text += describe_named_barrier(t);
    } else if (key.first == State::waiting && t.warp->lanes[t.lane].what == &kMbarrierWait) {
      text += describe_mbarrier(static_cast<const std::uint64_t*>(t.warp->lanes[t.lane].input));
    }
  }
  return text;
}

Thread* first_in(const Worker& w, State state) {
  for (Block* block : w.resident)
    for (unsigned i = 0; i < block->size; ++i)
      if (block->threads[i].state == state) return &block->threads[i];
  return nullptr;
}

}  // namespace

std::string who_waits_where(const Worker& w) {
  const OwnWork own;
  std::string text;
  int shown = 0;
  for (const Block* block : w.resident) {
    if (block->live == 0 || ++shown > 2) continue;
    if (!text.empty()) text += "\n";
    text += describe_block(*block);
  }
  return text;
}

void report_deadlock(Worker& w) {
  Thread* at_warp = first_in(w, State::warp);
  Thread* at_barrier = first_in(w, State::barrier);
  if (!at_barrier) at_barrier = first_in(w, State::named_barrier);
  Thread* waiting = at_warp ? at_warp : at_barrier;
  Failure failure;
  if (at_warp) {
    failure.slug = "simt-warp-mask";
    failure.title = "lanes named in a mask never come to the warp operation";
  } else if (at_barrier) {
    failure.slug = "simt-barrier-divergence";
    failure.title = "a part of the block never comes to the barrier";
  } else if ((waiting = first_in(w, State::grid)) || (waiting = first_in(w, State::cluster))) {
    failure.slug = "simt-barrier-divergence";
    failure.title = "a part of the blocks never comes to the barrier";
  } else {
    waiting = first_in(w, State::waiting);
    failure.slug = "simt-hang";
    failure.title = "threads wait for an event that nobody is left to cause";
  }
  failure.error = error_of(failure.slug);
  if (waiting) {
    failure.has_thread = true;
    failure.block = waiting->block->index;
    failure.thread = waiting->index;
    failure.site = waiting->site;
    if (waiting->state == State::warp || waiting->state == State::barrier)
      failure.frames = frames_of(w, *waiting);
  }
  failure.details = who_waits_where(w);
  record_failure(*w.launch, failure);
}

}  // namespace simt
