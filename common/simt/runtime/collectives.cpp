// SPDX-License-Identifier: MIT
//
// Warp collectives: a meeting of the live lanes that a mask names. Shuffles, votes and __syncwarp are all
// one.
#include <cstring>

#include "report.h"
#include "scheduler.h"

namespace simt {

unsigned lane_id() {
  return current->lane;
}
unsigned warp_id() {
  return current->warp->id;
}

static const char* name_of(Collective operation) {
  switch (operation) {
    case Collective::shuffle:
      return "a shuffle";
    case Collective::ballot:
      return "a vote";
    case Collective::match:
      return "a match";
    default:
      return "__syncwarp";
  }
}

template <class F>
static void each_lane(std::uint32_t lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(__builtin_ctz(lanes));
}

static void complete(Worker* w, Warp* warp, std::uint32_t group) {
  auto& lanes = warp->lanes;
  const LaneRequest& first = lanes[static_cast<unsigned>(__builtin_ctz(group))];
  std::uint32_t ballot = 0;
  if (first.operation == Collective::ballot) {
    each_lane(group, [&](int lane) {
      int predicate;
      std::memcpy(&predicate, lanes[lane].in, sizeof(predicate));
      if (predicate) ballot |= 1u << lane;
    });
  }
  each_lane(group, [&](int lane) {
    LaneRequest& request = lanes[lane];
    switch (request.operation) {
      case Collective::shuffle:
        if (!(group >> request.source & 1)) {
          fail_at(warp->threads[lane].site, "simt-warp-mask",
                  "lane %d shuffles from lane %d, which takes no part (mask 0x%08x, live lanes of it 0x%08x)",
                  lane, request.source, request.mask, group);
        }
        std::memcpy(request.out, lanes[request.source].in, request.size);
        break;
      case Collective::ballot:
        std::memcpy(request.out, &ballot, sizeof(ballot));
        break;
      case Collective::match: {
        std::uint32_t equal = 0;
        each_lane(group, [&](int other) {
          if (!std::memcmp(lanes[other].in, request.in, request.size)) equal |= 1u << other;
        });
        std::memcpy(request.out, &equal, sizeof(equal));
        break;
      }
      case Collective::sync:
        break;
    }
  });
  warp->waiting &= ~group;
  ++w->changes;
  ++w->counts.warp_collectives;
  each_lane(group, [&](int lane) { make_ready(&warp->threads[lane]); });
}

static void try_complete(Worker* w, Warp* warp, std::uint32_t mask) {
  const std::uint32_t group = mask & warp->present & ~warp->exited;
  if (!group || (warp->waiting & group) != group) return;
  const unsigned first = static_cast<unsigned>(__builtin_ctz(group));
  each_lane(group, [&](int lane) {
    const LaneRequest& a = warp->lanes[first];
    const LaneRequest& b = warp->lanes[lane];
    if (b.mask != mask) {
      fail_at(warp->threads[lane].site, "simt-warp-mask",
              "lane %d came with mask 0x%08x, lane %u of the same warp with 0x%08x: %s", lane, b.mask, first,
              a.mask, place(warp->threads[first].site).c_str());
    }
    if (b.operation != a.operation) {
      fail_at(warp->threads[lane].site, "simt-warp-mask",
              "lane %d is in %s, lane %u of the same mask 0x%08x in %s: %s", lane, name_of(b.operation),
              first, mask, name_of(a.operation), place(warp->threads[first].site).c_str());
    }
  });
  complete(w, warp, group);
}

// A lane has exited: those who named it in a mask may have waited for it alone.
void complete_collectives(Worker* w, Warp* warp) {
  for (std::uint32_t left = warp->waiting; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(left));
    if (warp->waiting >> lane & 1) try_complete(w, warp, warp->lanes[lane].mask);
  }
}

const void* rendezvous(std::uint32_t mask, Collective operation, const void* in, unsigned size, int source) {
  Thread* thread = current;
  if (!thread) fail("simt-warp-mask", "%s outside a kernel", name_of(operation));
  thread->site = __builtin_return_address(0);
  Warp* warp = thread->warp;
  if (!(mask >> thread->lane & 1)) {
    fail_at(thread->site, "simt-warp-mask", "lane %u calls %s with mask 0x%08x, which does not name it",
            thread->lane, name_of(operation), mask);
  }
  LaneRequest& request = warp->lanes[thread->lane];
  request.mask = mask;
  request.operation = operation;
  request.source = source;
  request.size = size;
  if (size) std::memcpy(request.in, in, size);
  thread->state = State::at_collective;
  warp->waiting |= 1u << thread->lane;
  try_complete(worker, warp, mask);
  if (thread->state != State::ready) wait_here();
  return request.out;
}

// __activemask has no mask to wait for: lanes gather at one call until nothing else of the block can run.
std::uint32_t active_mask() {
  Thread* thread = current;
  thread->site = __builtin_return_address(0);
  thread->state = State::at_activemask;
  wait_here();
  std::uint32_t mask;
  std::memcpy(&mask, thread->warp->lanes[thread->lane].out, sizeof(mask));
  return mask;
}

bool release_active_masks(Worker* w) {
  bool any = false;
  for (std::size_t i = 0; i < w->resident; ++i) {
    for (Warp& warp : w->blocks[i]->warps) {
      each_lane(warp.present, [&](int lane) {
        const void* site = warp.threads[lane].site;
        if (warp.threads[lane].state != State::at_activemask) return;
        std::uint32_t mask = 0;
        each_lane(warp.present, [&](int other) {
          if (warp.threads[other].state == State::at_activemask && warp.threads[other].site == site)
            mask |= 1u << other;
        });
        each_lane(mask, [&](int other) {
          std::memcpy(warp.lanes[other].out, &mask, sizeof(mask));
          make_ready(&warp.threads[other]);
        });
        any = true;
      });
    }
  }
  return any;
}

}  // namespace simt
