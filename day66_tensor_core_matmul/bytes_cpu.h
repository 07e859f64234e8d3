// SPDX-License-Identifier: MIT
// ByteMatmul on the CPU: the truth, the parallel baseline, and a check for what is too large for these. Host code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "common/compare.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/random.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {

inline int32_t bytes_element(const ByteMatmul<int8_t>& p, int row, int col) {
  int32_t sum = 0;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{col} * p.k + i];
  return sum;
}

inline void bytes_reference(const ByteMatmul<int8_t>& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col) p.c[int64_t{row} * p.n + col] = bytes_element(p, row, col);
  }
}

// Rows shared out to all cores; both operands of a sum lie side by side, which the compiler vectorises.
inline void bytes_parallel(const ByteMatmul<int8_t>& p) {
  days::parallel_ranges(static_cast<size_t>(p.m) * static_cast<size_t>(p.n),
                        [&](size_t, size_t begin, size_t end) {
                          const size_t n = static_cast<size_t>(p.n);
                          for (size_t i = begin; i < end; ++i)
                            p.c[i] = bytes_element(p, static_cast<int>(i / n), static_cast<int>(i % n));
                        });
}

// Freivalds' check in integers: for numbers r at random, c * r is a * (b * r) in every row, to the last bit. Sums wrap
// around at 2^64 on both sides alike; a row with a wrong element passes once in 2^60 or less.
inline days::Report bytes_check_large(const ByteMatmul<int8_t>& p) {
  const size_t m = static_cast<size_t>(p.m), n = static_cast<size_t>(p.n), k = static_cast<size_t>(p.k);
  std::vector<uint64_t> weights(n), b_times(k);
  for (size_t col = 0; col < n; ++col) {
    weights[col] = days::random_bits(501, col) | 1;
    for (size_t i = 0; i < k; ++i)
      b_times[i] += static_cast<uint64_t>(int64_t{p.b[col * k + i]}) * weights[col];
  }
  std::vector<char> wrong(m);
  days::parallel_ranges(m << 18, [&](size_t, size_t begin, size_t end) {
    for (size_t row = (begin + (1u << 18) - 1) >> 18; row < (end + (1u << 18) - 1) >> 18; ++row) {
      uint64_t got = 0, want = 0;
      for (size_t col = 0; col < n; ++col)
        got += static_cast<uint64_t>(int64_t{p.c[row * n + col]}) * weights[col];
      for (size_t i = 0; i < k; ++i) want += static_cast<uint64_t>(int64_t{p.a[row * k + i]}) * b_times[i];
      wrong[row] = got != want;
    }
  });
  days::Report report;
  for (size_t row = 0; row < m && report.notes.size() < days::Report::kShown; ++row) {
    if (wrong[row]) report.notes.push_back("row " + std::to_string(row) + " of c has a wrong element");
  }
  return report;
}

inline double bytes_flops(const ByteMatmul<int8_t>& p) {
  return 2.0 * p.m * p.n * p.k;
}
inline days::Traffic bytes_traffic(const ByteMatmul<int8_t>& p) {
  return days::reads(p.a, 1.0 * p.m * p.k) + days::reads(p.b, 1.0 * p.n * p.k) +
         days::writes(p.c, 1.0 * p.m * p.n);
}

}  // namespace day66
