// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and the same on all cores.
#include <algorithm>
#include <cmath>

#include "common/parallel.h"
#include "day38_l1_norm/l1_norm.h"

namespace day38 {
namespace {

template <class T>
void step_of_row(const L1Norm<T>& p, int64_t row) {
  double norm = 0;
  for (int col = 0; col < p.cols; ++col) norm += std::abs(days::to_double(p.x[row * p.cols + col]));
  p.norm[row] = static_cast<float>(norm);
  for (int col = 0; col < p.cols; ++col) {
    const double x = days::to_double(p.x[row * p.cols + col]);
    const double sign = std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
    p.dx[row * p.cols + col] = days::from_double<T>(static_cast<double>(p.dnorm[row]) * sign);
  }
}

}  // namespace

template <class T>
void l1_norm_reference(const L1Norm<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) step_of_row(p, row);
}
template <class T>
void l1_norm_parallel(const L1Norm<T>& p) {
  const int elements_a_thread = 1 << 16;
  days::parallel_ranges(
      static_cast<size_t>(p.rows),
      [&](size_t, size_t begin, size_t end) {
        for (size_t row = begin; row < end; ++row) step_of_row(p, static_cast<int64_t>(row));
      },
      static_cast<size_t>(std::max(1, elements_a_thread / p.cols)));
}

INSTANTIATE_REFERENCE(l1_norm_reference, L1Norm, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(l1_norm_parallel, L1Norm, float, days::half, days::bf16);

}  // namespace day38
