// SPDX-License-Identifier: MIT
//
// The harness's own use of the CPU's cores: making inputs and comparing outputs of some gigabytes.
// Defined in harness/parallel.h: threads take long to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/function.h"

namespace days {

// The CPU's cores, at least 1.
size_t cpu_threads();

// Calls body(part, begin, end) for `parts` consecutive ranges that cover [0, n), on as many threads; returns
// when all are done. A thread gets at least `grain` elements, and small ranges stay on the calling thread:
// below some hundred thousand operations, starting a thread costs more than it saves. `body` must not throw.
size_t parallel_ranges(size_t n, const Function<void(size_t part, size_t begin, size_t end)>& body,
                       size_t grain = size_t{1} << 18);

// body(row) for each row of `cols` elements, on several threads where there are 2^16 elements for each. For references.
template <class Body>
void parallel_rows(int rows, int cols, const Body& body) {
  parallel_ranges(
      static_cast<size_t>(rows),
      [&](size_t, size_t begin, size_t end) {
        for (size_t row = begin; row < end; ++row) body(static_cast<int64_t>(row));
      },
      std::max<size_t>(1, (size_t{1} << 16) / static_cast<size_t>(cols)));
}

}  // namespace days
