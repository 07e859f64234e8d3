// SPDX-License-Identifier: MIT
//
// Warp collectives: the lanes of a mask meet, the last one to come does the work for all of them.
#include <cstring>

#include "device_memory.h"
#include "ordering.h"

namespace simt {
namespace {

template <class Action>
void for_each_lane(std::uint32_t lanes, Action action) {
  for (; lanes; lanes &= lanes - 1) action(__builtin_ctz(lanes));
}

// Of a lane, which need not be the running one: the last to come, or one that returned, completes the collective of all.
template <class... Arguments>
[[noreturn]] __attribute__((noinline)) void fail_of(Site site, int lane, const char* slug, const char* format,
                                                    Arguments... arguments) {
  Thread& thread = worker->meeting->threads[lane];
  Failure failure = failure_here(slug, format_text(format, arguments...));
  failure.has_thread = true;
  failure.block = thread.block->index;
  failure.thread = thread.index;
  failure.site = site;
  failure.frames = frames_of(*worker, thread);
  abandon(std::move(failure));
}

void combine_shuffle(Lane* lanes, std::uint32_t participants) {
  for_each_lane(participants, [&](int i) {
    Lane& lane = lanes[i];
    const int source = lane.operand & 31;
    if (participants >> source & 1) {
      std::memcpy(lane.result, lanes[source].input, lane.bytes);
    } else if (options().lenient) {
      std::memset(lane.result, kPoison, lane.bytes);  // undefined on a GPU
    } else {
      const std::uint32_t there = worker->meeting->present, bit = 1u << source;
      const std::string why =
          !(lane.mask & bit) ? format_text("The mask 0x%08x does not name", lane.mask)
          : !(there & bit)
              ? format_text("The warp has no more than %d threads, and so no", __builtin_popcount(there))
              : std::string("The kernel has ended for");
      fail_of(lane.site, i, "simt-warp-mask",
              "lane %d shuffles from lane %d, which takes no part\n"
              "%s lane %d. The value would be undefined.",
              i, source, why.c_str(), source);
    }
  });
}

void combine_ballot(Lane* lanes, std::uint32_t participants) {
  std::uint32_t votes = 0;
  for_each_lane(participants,
                [&](int i) { votes |= std::uint32_t{*static_cast<const bool*>(lanes[i].input)} << i; });
  for_each_lane(participants, [&](int i) { std::memcpy(lanes[i].result, &votes, sizeof votes); });
}

std::uint32_t lanes_equal_to(const Lane* lanes, std::uint32_t participants, const Lane& lane) {
  std::uint32_t equal = 0;
  for_each_lane(participants, [&](int i) {
    if (std::memcmp(lanes[i].input, lane.input, lane.bytes) == 0) equal |= 1u << i;
  });
  return equal;
}

void combine_match_any(Lane* lanes, std::uint32_t participants) {
  for_each_lane(participants, [&](int i) {
    const std::uint32_t equal = lanes_equal_to(lanes, participants, lanes[i]);
    std::memcpy(lanes[i].result, &equal, sizeof equal);
  });
}

void combine_match_all(Lane* lanes, std::uint32_t participants) {
  const std::uint32_t equal = lanes_equal_to(lanes, participants, lanes[__builtin_ctz(participants)]);
  const std::uint32_t result = equal == participants ? participants : 0;
  for_each_lane(participants, [&](int i) { std::memcpy(lanes[i].result, &result, sizeof result); });
}

// The lanes that a collective on `mask` must wait for.
std::uint32_t needed(const Warp& warp, std::uint32_t mask) {
  return mask & warp.present & ~warp.returned;
}

// If all lanes of the mask are there, completes their collective.
bool try_complete(Worker& w, Warp& warp, std::uint32_t mask) {
  const std::uint32_t group = needed(warp, mask);
  if (group == 0 || (warp.waiting & group) != group) return false;
  const Collective* what = warp.lanes[__builtin_ctz(group)].what;
  for (std::uint32_t rest = group; rest; rest &= rest - 1)
    if (warp.lanes[__builtin_ctz(rest)].mask != mask) return false;
  w.meeting = &warp;
  if (what->combine) what->combine(warp.lanes, group);
  warp.waiting &= ~group;
  warp.agreed &= ~group;
  if (what->combine) {
    warp.met = warp.segment;  // a shuffle orders no memory accesses
  } else {
    order_warp(warp);
  }
  ++w.progress;
  ++w.counts.warp_collectives;
  for_each_lane(group, [&](int i) {
    Thread* thread = warp.threads + i;
    if (thread == current) {
      thread->state = State::running;
    } else {
      resume_later(w, thread);
    }
  });
  return true;
}

bool agree(const Lane& a, const Lane& b) {
  return a.mask == b.mask && a.what == b.what && a.bytes == b.bytes;
}

// Lanes that name each other but disagree can never meet: say so at once. Mostly all of a warp's lanes come
// one after the other and agree: then one comparison is enough.
void check_agreement(Warp& warp, int me, const Lane& mine) {
  const std::uint32_t like_me =
      warp.agreed != 0 && agree(warp.lanes[warp.agreed_lane], mine) ? warp.agreed : 0;
  warp.agreed = like_me | 1u << me;
  warp.agreed_lane = me;
  for_each_lane(warp.waiting & mine.mask & ~like_me & ~(1u << me), [&](int i) {
    const Lane& other = warp.lanes[i];
    if (!(other.mask >> me & 1)) return;
    if (other.mask != mine.mask) {
      fail_at(mine.site, "simt-warp-mask",
              "the lanes of one %s name different masks\n"
              "lane %d: mask 0x%08x\n%s  lane %d: %s with mask 0x%08x",
              mine.what->name, me, mine.mask, place(other.site).c_str(), i, other.what->name, other.mask);
    }
    if (other.what != mine.what || other.bytes != mine.bytes) {
      fail_at(mine.site, "simt-warp-mask",
              "lanes of one mask are in different warp operations\n"
              "lane %d: %s of %zu bytes, mask 0x%08x\n%s  lane %d: %s of %zu bytes",
              me, mine.what->name, mine.bytes, mine.mask, place(other.site).c_str(), i, other.what->name,
              other.bytes);
    }
  });
}

}  // namespace

const Collective kSyncWarp = {"__syncwarp", nullptr};
const Collective kShuffle = {"__shfl_sync", combine_shuffle};
const Collective kBallot = {"__ballot_sync", combine_ballot};
const Collective kMatchAny = {"__match_any_sync", combine_match_any};
const Collective kMatchAll = {"__match_all_sync", combine_match_all};

void rendezvous(std::uint32_t mask, const Collective& what, const void* input, void* result,
                std::size_t bytes, int operand, Site site) {
  Thread* thread = current;
  if (__builtin_expect(!thread, 0)) fail("simt-launch", "%s outside a kernel", what.name);
  Warp& warp = *thread->warp;
  const int me = thread->lane;
  if (__builtin_expect(!(mask >> me & 1), 0)) {
    fail_at(site, "simt-warp-mask", "lane %d calls %s with mask 0x%08x, which does not name it", me,
            what.name, mask);
  }
  Lane& lane = warp.lanes[me];
  lane = {mask, operand, input, result, bytes, &what, site};
  check_agreement(warp, me, lane);
  warp.waiting |= 1u << me;
  thread->state = State::warp;
  thread->site = site;
  if (try_complete(*worker, warp, mask)) return;
  leave_quickly(*worker, thread);
  testify_if_asked(*worker, thread);
}

// A lane that returns may be the last one that others waited for.
void lane_returned(Worker& w, Warp& warp) {
  Thread* returned = current;
  set_current(nullptr);
  for_each_lane(warp.waiting, [&](int i) {
    if (warp.waiting >> i & 1) try_complete(w, warp, warp.lanes[i].mask);  // not yet by an earlier lane
  });
  set_current(returned);
}

std::uint32_t live_lanes() {
  return needed(*current->warp, ~0u);
}

// Which lanes run together is not defined when each is a fiber of its own. As on a GPU after convergence, the
// answer is: all lanes of the warp that come to this place before anything else in the worker can run.
std::uint32_t active_mask(Site site) {
  Thread* thread = current;
  if (!thread) fail("simt-launch", "__activemask outside a kernel");
  std::uint32_t result = 0;
  Lane& lane = thread->warp->lanes[thread->lane];
  lane.result = &result;
  lane.site = site;
  thread->state = State::active_mask;
  thread->site = site;
  leave(&thread->context);
  return result;
}

bool release_active_masks(Worker& w) {
  bool released = false;
  for (Block* block : w.resident) {
    for (Warp& warp : block->warps) {
      std::uint32_t asking = 0;
      for_each_lane(needed(warp, ~0u), [&](int i) {
        if (warp.threads[i].state == State::active_mask) asking |= 1u << i;
      });
      while (asking) {
        const Site site = warp.threads[__builtin_ctz(asking)].site;
        std::uint32_t together = 0;
        for_each_lane(asking, [&](int i) {
          if (warp.threads[i].site.line == site.line) together |= 1u << i;
        });
        for_each_lane(together, [&](int i) {
          *static_cast<std::uint32_t*>(warp.lanes[i].result) = together;
          resume_later(w, warp.threads + i);
        });
        asking &= ~together;
        released = true;
      }
    }
  }
  return released;
}

}  // namespace simt
