// SPDX-License-Identifier: MIT
// Looking back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): a tile adds up what the
// tiles before it have published, the nearest first, until it finds one whose number needs no other before it.
#pragma once

#include <cuda_runtime.h>

#include "common/reduce.cuh"
#include "common/util.h"

namespace day57 {

// What a tile has published.
template <class Sum>
struct Seen {
  bool last;  // nothing before this tile is to be added
  Sum value;
};

// What the tiles before `tile` add up to. All lanes of one warp call it, and lane i looks at the i-th tile before. look(t) waits
// until tile t has published something. Who looks is a tile whose number is a ticket: all tiles before it have begun.
template <class Sum, class Look>
__device__ inline Sum look_back(int64_t tile, Look look) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  Sum sum = 0;
  for (int64_t end = tile;; end -= days::kWarpSize) {
    const int64_t before = end - 1 - lane;
    Seen<Sum> seen = {true, 0};  // before the first tile is nothing
    if (before >= 0) seen = look(before);
    const unsigned last = __ballot_sync(days::kFullWarp, seen.last);
    const int nearest = last == 0 ? days::kWarpSize - 1 : __ffs(static_cast<int>(last)) - 1;
    sum = days::warp_reduce(lane <= nearest ? seen.value : Sum{0}, days::Sum{}) + sum;
    if (last != 0) return sum;
  }
}

}  // namespace day57
