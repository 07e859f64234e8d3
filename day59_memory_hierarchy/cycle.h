// SPDX-License-Identifier: MIT
// The lines of a chase, as one cycle in random order. Host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "day59_memory_hierarchy/memory.h"

namespace day59 {

struct Cycle {
  std::vector<double> next;
};

// Sattolo's shuffle: whoever follows the places comes by every line before the first one again, and no order is there that
// hardware could guess. The other words of a line are never read; they lead to a place that does not exist.
inline std::vector<double> random_cycle(int64_t lines, uint64_t seed) {
  std::vector<uint32_t> order(static_cast<size_t>(lines));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  uint64_t state = seed;
  for (size_t i = order.size() - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(order[i], order[(state >> 33) % i]);
  }
  std::vector<double> next(order.size() * kLineWords, 4294967295.0);
  for (size_t i = 0; i < order.size(); ++i) next[i * kLineWords] = static_cast<double>(order[i]) * kLineWords;
  return next;
}

}  // namespace day59
