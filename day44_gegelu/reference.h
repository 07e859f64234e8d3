// SPDX-License-Identifier: MIT
// What the CPU's versions of all gates share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/parallel.h"

namespace day44 {

// Where the gate and the value of output i are.
struct Places {
  int64_t gate, value;
};
template <class P>
Places in_halves(const P& p, int64_t i) {
  const int64_t gate = i / p.cols * 2 * p.cols + i % p.cols;
  return {gate, gate + p.cols};
}

// each(i) for each output.
template <class P, class F>
void on_all_cores(const P& p, F each) {
  days::parallel_ranges(static_cast<size_t>(p.rows * p.cols), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) each(static_cast<int64_t>(i));
  });
}

inline float sigmoid(float z) {
  return 1 / (1 + std::exp(-z));
}

}  // namespace day44
