// SPDX-License-Identifier: MIT
// The CPU's versions: the sum as the problem has it, and the same with all cores, a row at a time.
#include <algorithm>
#include <cstddef>

#include "common/parallel.h"
#include "day65_async_copy/stencil.h"

namespace day65 {

static void stencil_rows(const Stencil<float>& p, int64_t begin, int64_t end) {
  const auto at = [&](int64_t row, int64_t col) {
    return row < 0 || row >= p.rows || col < 0 || col >= p.cols ? 0.0 : double{p.in[row * p.cols + col]};
  };
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t col = 0; col < p.cols; ++col) {
      double sum = weight(0) * at(row, col);
      for (int k = 1; k <= kRadius; ++k) {
        sum += weight(k) * at(row - k, col) + weight(k) * at(row + k, col);
        sum += weight(k) * at(row, col - k) + weight(k) * at(row, col + k);
      }
      p.out[row * p.cols + col] = static_cast<float>(sum);
    }
  }
}

void stencil_reference(const Stencil<float>& p) {
  stencil_rows(p, 0, p.rows);
}
void stencil_by_rows(const Stencil<float>& p) {
  days::parallel_ranges(
      static_cast<size_t>(p.rows),
      [&p](size_t, size_t begin, size_t end) {
        stencil_rows(p, static_cast<int64_t>(begin), static_cast<int64_t>(end));
      },
      4);
}

void stencil_parallel(const Stencil<float>& p) {
  const int64_t rows = p.rows, cols = p.cols;
  const auto part = [&](size_t, size_t begin, size_t end) {
    for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
      const float* const in = p.in + row * cols;
      float* const out = p.out + row * cols;
      for (int64_t col = 0; col < cols; ++col) out[col] = weight(0) * in[col];
      for (int k = 1; k <= kRadius; ++k) {
        for (int64_t col = k; col < cols; ++col) out[col] += weight(k) * in[col - k];
        for (int64_t col = 0; col + k < cols; ++col) out[col] += weight(k) * in[col + k];
        if (row - k >= 0) {
          for (int64_t col = 0; col < cols; ++col) out[col] += weight(k) * in[col - k * cols];
        }
        if (row + k < rows) {
          for (int64_t col = 0; col < cols; ++col) out[col] += weight(k) * in[col + k * cols];
        }
      }
    }
  };
  days::parallel_ranges(static_cast<size_t>(rows), part,
                        static_cast<size_t>(std::max<int64_t>(1, (1 << 16) / cols)));
}

}  // namespace day65
