// SPDX-License-Identifier: MIT
//
// What overlapping can reach, from what the parts take alone.
#pragma once

#include <algorithm>
#include <cstddef>

namespace day60 {

// Seconds that one chunk takes on each engine.
struct Parts {
  double copy_in, kernel, copy_out;
};

// The shortest time for `chunks` equal chunks, each of which is copied in, computed and copied out on three
// engines that work side by side. The slowest engine never waits between two chunks; before its first and after
// its last one there is what the two others need for one chunk: copy_in + kernel + copy_out + (chunks - 1) times
// the slowest.
inline double pipeline_seconds(const Parts& p, size_t chunks) {
  const double slowest = std::max({p.copy_in, p.kernel, p.copy_out});
  return p.copy_in + p.kernel + p.copy_out + static_cast<double>(chunks - 1) * slowest;
}

}  // namespace day60
