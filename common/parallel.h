// SPDX-License-Identifier: MIT
//
// The harness's own use of the CPU's cores: making inputs and comparing outputs of some gigabytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace days {

inline size_t cpu_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// Calls body(part, begin, end) for `parts` consecutive ranges that cover [0, n), on as many threads; returns
// when all are done. A thread gets at least `grain` elements, and small ranges stay on the calling thread:
// below some hundred thousand operations, starting a thread costs more than it saves. `body` must not throw.
template <class Body>
size_t parallel_ranges(size_t n, const Body& body, size_t grain = size_t{1} << 18) {
  const size_t parts = std::max<size_t>(1, std::min(cpu_threads(), n / grain));
  const auto run = [&](size_t part) {
    body(part, n / parts * part, part + 1 == parts ? n : n / parts * (part + 1));
  };
  std::vector<std::thread> threads;
  for (size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
  run(0);
  for (std::thread& thread : threads) thread.join();
  return parts;
}

}  // namespace days
