// SPDX-License-Identifier: MIT
//
// Names the ladders of a day's benchmark:
//
//   BENCH_LADDER(day05, matmul);    // every variant, baseline and CPU version, on every .bench shape
//
// Two programs are made of such a file: dayNN_bench, with bench/benchmarking.cpp, and the day's shared
// library, with common/library.cpp.
#pragma once

#include <vector>

#include "common/ladder.h"

#define BENCH_LADDER(day, ladder) \
  [[maybe_unused]] static const bool days_bench_##day##_##ladder = ::days::register_bench_ladder(day::ladder)

namespace days {

inline std::vector<const LadderInfo*>& bench_ladders() {
  static std::vector<const LadderInfo*> all;
  return all;
}
inline bool register_bench_ladder(const LadderInfo& ladder) {
  bench_ladders().push_back(&ladder);
  return true;
}

}  // namespace days
