// SPDX-License-Identifier: MIT
// The CPU's versions. The parallel ones work in tiles, so that a cache line that is fetched for one element
// of a column is still there for the next ones.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "common/parallel.h"
#include "day13_transpose/transpose.h"

namespace day13 {

template <class T>
void transpose_reference(const Transpose<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t col = 0; col < p.cols; ++col) p.out[col * p.rows + row] = p.in[row * p.cols + col];
  }
}

template <class T>
void transpose_parallel(const Transpose<T>& p) {
  constexpr int64_t kTile = 64;
  const auto columns = [&p](size_t, size_t begin, size_t end) {
    for (int64_t col0 = static_cast<int64_t>(begin); col0 < static_cast<int64_t>(end); col0 += kTile) {
      const int64_t col1 = std::min(col0 + kTile, static_cast<int64_t>(end));
      for (int64_t row0 = 0; row0 < p.rows; row0 += kTile) {
        const int64_t row1 = std::min<int64_t>(row0 + kTile, p.rows);
        for (int64_t col = col0; col < col1; ++col) {
          for (int64_t row = row0; row < row1; ++row) p.out[col * p.rows + row] = p.in[row * p.cols + col];
        }
      }
    }
  };
  const int elements_a_thread = 1 << 18;
  days::parallel_ranges(static_cast<size_t>(p.cols), columns,
                        static_cast<size_t>(std::max(1, elements_a_thread / p.rows)));
}

INSTANTIATE_REFERENCE(transpose_reference, Transpose, float, days::half, uint8_t);
INSTANTIATE_REFERENCE(transpose_parallel, Transpose, float, days::half, uint8_t);

void copy_reference(const Copy2D<float>& p) {
  for (int64_t i = 0; i < int64_t{p.rows} * p.cols; ++i) p.out[i] = p.in[i];
}

void copy_parallel(const Copy2D<float>& p) {
  days::parallel_ranges(static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols),
                        [&p](size_t, size_t begin, size_t end) {
                          std::memcpy(p.out + begin, p.in + begin, (end - begin) * sizeof(float));
                        });
}

}  // namespace day13
