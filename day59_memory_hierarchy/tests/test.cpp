// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <set>

#include "common/testing.h"
#include "day59_memory_hierarchy/cycle.h"
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

// A chase that returns early would measure a small working set, whatever it is called.
TEST(Day59Cycle, ComesByEveryLineOnce) {
  for (const int64_t lines : {1, 2, 3, 31, 32, 1021, 4096}) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      const std::vector<double> next = random_cycle(lines, seed);
      ASSERT_EQ(next.size(), static_cast<size_t>(lines) * kLineWords);
      std::set<double> seen;
      double place = 0;
      for (int64_t step = 0; step < lines; ++step) {
        EXPECT_TRUE(seen.insert(place).second) << lines << ": back too early";
        place = next[static_cast<size_t>(place)];
      }
      EXPECT_EQ(place, 0) << lines << ": not a cycle";
    }
  }
}

// Neighbours in the cycle are no neighbours in memory: else a fetch ahead would shorten the chain.
TEST(Day59Cycle, HasNoOrder) {
  const std::vector<double> next = random_cycle(4096, 1);
  int near = 0;
  for (size_t line = 0; line < 4096; ++line)
    near += std::abs(next[line * kLineWords] / kLineWords - static_cast<double>(line)) < 8;
  EXPECT_LT(near, 64);
}

TEST(Day59Refuses, WhatIsNoProblem) {
  uint32_t x[64] = {}, y[4] = {};
  for (const auto& variant : days::variants<Chase<uint32_t>>("chase")) {
    EXPECT_THROW(variant.launch({x, y, (1 << 26) + 1, 1, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, y, 1, 257, 1}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<Lookup<uint32_t>>("lookup")) {
    EXPECT_THROW(variant.launch({x, y, 1, 1025, 1, {}}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<Sweep<uint32_t>>("sweep")) {
    EXPECT_THROW(variant.launch({x, y, 6, 1}), std::invalid_argument) << variant.name;
  }
  EXPECT_THROW(sweep_shared({x, y, 528 * 8192 + 4, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day59
