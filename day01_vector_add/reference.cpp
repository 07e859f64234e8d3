// SPDX-License-Identifier: MIT
// The CPU's versions. One addition is rounded once, on a CPU as on a GPU, so the kernels must agree with them
// bit for bit.
#include <algorithm>
#include <thread>
#include <vector>

#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

// Calls work(first, last) on one thread a core, with [0, n) cut into equal parts.
template <class Work>
void on_all_cores(int64_t n, Work work) {
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(n, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part) {
    threads.emplace_back([=] { work(n * part / parts, n * (part + 1) / parts); });
  }
  work(0, n / parts);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void vector_add_reference(const VectorAdd<float>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.c[i] = p.a[i] + p.b[i];
}

void vector_add_parallel(const VectorAdd<float>& p) {
  on_all_cores(p.n, [&p](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) p.c[i] = p.a[i] + p.b[i];
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
  on_all_cores(p.rows, [&p](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      for (int64_t col = 0; col < p.cols; ++col) {
        p.c[row * p.pitch + col] = p.a[row * p.pitch + col] + p.b[row * p.pitch + col];
      }
    }
  });
}

}  // namespace day01
