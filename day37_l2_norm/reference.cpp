// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, where no square of a float is beyond the numbers, and the same on all cores.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/parallel.h"
#include "day37_l2_norm/l2_norm.h"

namespace day37 {
namespace {

template <class T>
void normalise_row(const L2Normalize<T>& p, int64_t row) {
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  double sum = 0;
  for (int col = 0; col < p.cols; ++col) sum += days::to_double(x[col]) * days::to_double(x[col]);
  const double norm = std::sqrt(sum), eps = static_cast<double>(p.eps);
  p.norm[row] = static_cast<float>(norm);
  const double divisor = norm <= eps ? eps : norm;
  for (int col = 0; col < p.cols; ++col) y[col] = days::from_double<T>(days::to_double(x[col]) / divisor);
}

template <class T>
void differentiate_row(const L2NormalizeBackward<T>& p, int64_t row) {
  const T *y = p.y + row * p.cols, *dy = p.dy + row * p.cols;
  T* dx = p.dx + row * p.cols;
  double along = 0;
  for (int col = 0; col < p.cols; ++col) along += days::to_double(y[col]) * days::to_double(dy[col]);
  const double norm = static_cast<double>(p.norm[row]), eps = static_cast<double>(p.eps);
  for (int col = 0; col < p.cols; ++col) {
    const double slope = days::to_double(dy[col]);
    dx[col] =
        days::from_double<T>(norm <= eps ? slope / eps : (slope - days::to_double(y[col]) * along) / norm);
  }
}

}  // namespace

template <class T>
void l2_norm_reference(const L2Normalize<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) normalise_row(p, row);
}
template <class T>
void l2_norm_parallel(const L2Normalize<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) { normalise_row(p, row); });
}
template <class T>
void l2_norm_backward_reference(const L2NormalizeBackward<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) differentiate_row(p, row);
}
template <class T>
void l2_norm_backward_parallel(const L2NormalizeBackward<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) { differentiate_row(p, row); });
}

// Of a row: the largest dy, and the largest y times the error that the sum of y * dy can have, in epsilons: half of
// one for each addition, which add up as dot_product in compare.h says. All of it over the divisor.
template <class T>
double l2_norm_backward_size(const L2NormalizeBackward<T>& p) {
  std::vector<double> of_row(static_cast<size_t>(p.rows));
  days::parallel_rows(p.rows, p.cols, [&](int64_t row) {
    double most_y = 0, most_dy = 0, sum = 0, squares = 0;
    for (int col = 0; col < p.cols; ++col) {
      const double y = days::to_double(p.y[row * p.cols + col]),
                   dy = days::to_double(p.dy[row * p.cols + col]);
      if (!std::isfinite(y * dy)) continue;
      most_y = std::max(most_y, std::abs(y));
      most_dy = std::max(most_dy, std::abs(dy));
      sum += y * dy;
      squares += y * dy * y * dy;
    }
    const double sum_error = std::sqrt(p.cols) / 2 * (std::abs(sum) + std::sqrt(squares));
    const double norm = static_cast<double>(p.norm[row]), eps = static_cast<double>(p.eps);
    const double size = (most_dy + most_y * sum_error) / (norm <= eps ? eps : norm);
    of_row[static_cast<size_t>(row)] = std::isfinite(size) ? size : 0;
  });
  return *std::max_element(of_row.begin(), of_row.end());
}

INSTANTIATE_REFERENCE(l2_norm_reference, L2Normalize, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(l2_norm_parallel, L2Normalize, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(l2_norm_backward_reference, L2NormalizeBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(l2_norm_backward_parallel, L2NormalizeBackward, float, days::half, days::bf16);
template double l2_norm_backward_size(const L2NormalizeBackward<float>&);
template double l2_norm_backward_size(const L2NormalizeBackward<days::half>&);
template double l2_norm_backward_size(const L2NormalizeBackward<days::bf16>&);

}  // namespace day37
