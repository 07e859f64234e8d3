// SPDX-License-Identifier: MIT
// The CPU's versions. One addition is rounded once, on a CPU as on a GPU, so the kernels must agree with them
// bit for bit.
#include <algorithm>

#include "common/parallel.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {

void vector_add_reference(const VectorAdd<float>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.c[i] = p.a[i] + p.b[i];
}

void vector_add_parallel(const VectorAdd<float>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&p](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) p.c[i] = p.a[i] + p.b[i];
  });
}

void matrix_add_reference(const MatrixAdd<float>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t col = 0; col < p.cols; ++col) {
      p.c[row * p.pitch + col] = p.a[row * p.pitch + col] + p.b[row * p.pitch + col];
    }
  }
}

void matrix_add_parallel(const MatrixAdd<float>& p) {
  const auto add_rows = [&p](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const float* a = p.a + row * p.pitch;
      const float* b = p.b + row * p.pitch;
      float* c = p.c + row * p.pitch;
      for (int col = 0; col < p.cols; ++col) c[col] = a[col] + b[col];
    }
  };
  const int elements_a_thread = 1 << 18;
  days::parallel_ranges(static_cast<size_t>(p.rows), add_rows, std::max(1, elements_a_thread / p.cols));
}

}  // namespace day01
