// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/parallel.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest of number(row), or 0.
template <class Number>
double largest_of_rows(int rows, int cols, const Number& number) {
  std::vector<double> of_row(static_cast<size_t>(rows));
  days::parallel_rows(rows, cols, [&](int64_t row) { of_row[static_cast<size_t>(row)] = number(row); });
  return std::max(0.0, *std::max_element(of_row.begin(), of_row.end()));
}

}  // namespace

template <class T>
void softmax_reference(const Softmax<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    double max = -kInfinity, sum = 0;
    for (int col = 0; col < p.cols; ++col) max = std::max(max, days::to_double(x[col]));
    for (int col = 0; col < p.cols; ++col) sum += std::exp(days::to_double(x[col]) - max);
    for (int col = 0; col < p.cols; ++col)
      y[col] = days::from_double<T>(std::exp(days::to_double(x[col]) - max) / sum);
  }
}

template <class T>
void softmax_parallel(const Softmax<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) {
    const T* x = p.x + row * p.cols;
    T* y = p.y + row * p.cols;
    float max = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int col = 0; col < p.cols; ++col) max = std::max(max, days::to_float(x[col]));
    for (int col = 0; col < p.cols; ++col) sum += std::exp(days::to_float(x[col]) - max);
    for (int col = 0; col < p.cols; ++col)
      y[col] = days::from_float<T>(std::exp(days::to_float(x[col]) - max) / sum);
  });
}

template <class T>
void softmax_backward_reference(const SoftmaxBackward<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const T *y = p.y + row * p.cols, *dy = p.dy + row * p.cols;
    T* dx = p.dx + row * p.cols;
    double sum = 0;
    for (int col = 0; col < p.cols; ++col) sum += days::to_double(y[col]) * days::to_double(dy[col]);
    for (int col = 0; col < p.cols; ++col)
      dx[col] = days::from_double<T>(days::to_double(y[col]) * (days::to_double(dy[col]) - sum));
  }
}

template <class T>
void softmax_backward_parallel(const SoftmaxBackward<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) {
    const T *y = p.y + row * p.cols, *dy = p.dy + row * p.cols;
    T* dx = p.dx + row * p.cols;
    float sum = 0;
    for (int col = 0; col < p.cols; ++col) sum += days::to_float(y[col]) * days::to_float(dy[col]);
    for (int col = 0; col < p.cols; ++col)
      dx[col] = days::from_float<T>(days::to_float(y[col]) * (days::to_float(dy[col]) - sum));
  });
}

// From y, for x may have been the same matrix: a quotient y / largest y of the row is e^(x - max).
template <class T>
double softmax_depth(const Softmax<T>& p) {
  return largest_of_rows(p.rows, p.cols, [&p](int64_t row) {
    double least = kInfinity, most = 0;
    for (int col = 0; col < p.cols; ++col) {
      const double y = days::to_double(p.y[row * p.cols + col]);
      if (!(y > 0)) continue;
      least = std::min(least, y);
      most = std::max(most, y);
    }
    return most > 0 ? std::log(most / least) : 0.0;
  });
}

// Of a row: the largest y, times the largest dy and the error that the sum of y * dy can have, in epsilons:
// half of one for each addition, which add up as dot_product in compare.h says.
template <class T>
double softmax_backward_size(const SoftmaxBackward<T>& p) {
  return largest_of_rows(p.rows, p.cols, [&p](int64_t row) {
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
    return most_y * (most_dy + sum_error);
  });
}

INSTANTIATE_REFERENCE(softmax_reference, Softmax, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(softmax_parallel, Softmax, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(softmax_backward_reference, SoftmaxBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(softmax_backward_parallel, SoftmaxBackward, float, days::half, days::bf16);
template double softmax_depth(const Softmax<float>&);
template double softmax_depth(const Softmax<days::half>&);
template double softmax_depth(const Softmax<days::bf16>&);
template double softmax_backward_size(const SoftmaxBackward<float>&);
template double softmax_backward_size(const SoftmaxBackward<days::half>&);
template double softmax_backward_size(const SoftmaxBackward<days::bf16>&);

}  // namespace day14
