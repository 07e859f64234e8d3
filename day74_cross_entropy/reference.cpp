// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.h"
#include "day74_cross_entropy/cross_entropy.h"

namespace day74 {
namespace {

// A row, whose exponentials are of type U. Sums are double in either: in order, thousands of small terms would not change a float.
template <class U, class T>
void row_of(const CrossEntropy<T>& p, int64_t row) {
  T* const x = p.logits + row * p.cols;
  const int32_t y = p.targets[row];
  const Target kind = kind_of(y, p.classes, p.ignore_index);
  const auto read = [x](int col) {
    if constexpr (sizeof(U) == sizeof(double)) {
      return days::to_double(x[col]);
    } else {
      return days::to_float(x[col]);
    }
  };
  const auto write = [x](int col, double value) { x[col] = days::from_double<T>(value); };
  for (int col = p.classes; col < p.cols; ++col) write(col, 0);
  if (kind != Target::kClass) {
    const double value = kind == Target::kIgnored ? 0 : std::nan("");
    for (int col = 0; col < p.classes; ++col) write(col, value);
    p.loss[row] = static_cast<float>(value);
    return;
  }
  const double smoothing = static_cast<double>(p.smoothing), dloss = static_cast<double>(p.dloss[row]);
  U max = -std::numeric_limits<U>::infinity();
  double sum = 0, below = 0;
  for (int col = 0; col < p.classes; ++col) max = std::max(max, read(col));
  for (int col = 0; col < p.classes; ++col) {
    sum += static_cast<double>(std::exp(read(col) - max));
    below += static_cast<double>(max - read(col));
  }
  double loss = std::log(sum);
  if (smoothing != 1) loss += (1 - smoothing) * static_cast<double>(max - read(y));
  if (smoothing != 0) loss += smoothing * (below / p.classes);
  p.loss[row] = static_cast<float>(loss);
  for (int col = 0; col < p.classes; ++col) {
    const double probability = static_cast<double>(std::exp(read(col) - max)) / sum;
    write(col, dloss * (probability - (col == y ? 1 - smoothing : 0) - smoothing / p.classes));
  }
}

struct OfRow {
  double depth = 0;       // the largest difference from the maximum that has left something
  double difference = 0;  // of |dloss| times the probability that something is subtracted from
};
// From what the reference has written: the logits are gone.
template <class T>
OfRow of_row(const CrossEntropy<T>& p, int64_t row) {
  const T* const dx = p.logits + row * p.cols;
  const int32_t y = p.targets[row];
  const double dloss = static_cast<double>(p.dloss[row]), loss = static_cast<double>(p.loss[row]);
  if (kind_of(y, p.classes, p.ignore_index) != Target::kClass || !std::isfinite(dloss) || dloss == 0 ||
      std::isnan(loss))
    return {};
  const double s = static_cast<double>(p.smoothing);
  const double of_target = s == 0 ? std::exp(-loss) : 0;
  double least = 1, most = of_target;
  for (int col = 0; col < p.classes; ++col) {
    if (col == y) continue;
    const double probability = days::to_double(dx[col]) / dloss + s / p.classes;
    if (probability > 0) least = std::min(least, probability);
    most = std::max(most, probability);
  }
  // e^-104 is the least number of fp32.
  return {most > 0 ? std::min(104.0, std::max(0.0, std::log(most / least))) : 104,
          std::abs(dloss) * (s == 0 ? of_target : std::max(1.0 / p.classes, most))};
}

}  // namespace

template <class T>
void cross_entropy_reference(const CrossEntropy<T>& p) {
  for (int64_t row = 0; row < p.rows; ++row) row_of<double>(p, row);
}
template <class T>
void cross_entropy_parallel(const CrossEntropy<T>& p) {
  days::parallel_rows(p.rows, p.cols, [&p](int64_t row) { row_of<float>(p, row); });
}

template <class T>
double sum_epsilons(const CrossEntropy<T>& p) {
  double depth = 0;
  for (int64_t row = 0; row < p.rows; ++row) depth = std::max(depth, of_row(p, row).depth);
  return 4 + 2 * depth + 2 * std::sqrt(p.classes);
}
template <class T>
double difference_epsilons(const CrossEntropy<T>& p) {
  double difference = 0;
  for (int64_t row = 0; row < p.rows; ++row) difference = std::max(difference, of_row(p, row).difference);
  return difference * (sum_epsilons(p) + 4);
}

INSTANTIATE_REFERENCE(cross_entropy_reference, CrossEntropy, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(cross_entropy_parallel, CrossEntropy, float, days::half, days::bf16);
template double sum_epsilons(const CrossEntropy<float>&);
template double sum_epsilons(const CrossEntropy<days::half>&);
template double sum_epsilons(const CrossEntropy<days::bf16>&);
template double difference_epsilons(const CrossEntropy<float>&);
template double difference_epsilons(const CrossEntropy<days::half>&);
template double difference_epsilons(const CrossEntropy<days::bf16>&);

}  // namespace day74
