// SPDX-License-Identifier: MIT
//
// The harness's own use of the CPU's cores: making inputs and comparing outputs of some gigabytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

namespace days {

inline size_t cpu_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// Calls body(part, begin, end) for `parts` consecutive ranges that cover [0, n), on as many threads; returns
// when all are done. A thread gets at least `grain` elements, and small ranges stay on the calling thread:
// below some hundred thousand operations, starting a thread costs more than it saves. `body` must not throw.
// Defined in harness/parallel.h: threads take long to compile.
size_t parallel_ranges(size_t n, const std::function<void(size_t part, size_t begin, size_t end)>& body,
                       size_t grain = size_t{1} << 18);

}  // namespace days
