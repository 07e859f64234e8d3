// SPDX-License-Identifier: MIT
// The second problem on the CPU: the truth in double, how far a result may be from it, and a check of some rows and words of a large one.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/parallel.h"
#include "common/random.h"
#include "day74_cross_entropy/linear_check.h"

namespace day74 {
namespace {

template <class T>
double dot(const T* a, const T* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += days::to_double(a[i]) * days::to_double(b[i]);
  return sum;
}

struct Row {
  double loss;
  std::vector<double> dlogits;  // (classes)
};
template <class T>
Row row_of(const LinearCrossEntropy<T>& p, int64_t row) {
  const int32_t y = p.targets[row];
  const Target kind = kind_of(y, p.classes, p.ignore_index);
  const double nothing = kind == Target::kIgnored ? 0 : std::nan("");
  if (kind != Target::kClass) return {nothing, std::vector<double>(static_cast<size_t>(p.classes), nothing)};
  std::vector<double> logits;
  for (int64_t v = 0; v < p.classes; ++v)
    logits.push_back(dot(p.x + row * p.width, p.w + v * p.width, p.width));
  const double max = *std::max_element(logits.begin(), logits.end()),
               of_target = logits[static_cast<size_t>(y)];
  const double s = static_cast<double>(p.smoothing), dloss = static_cast<double>(p.dloss[row]);
  double sum = 0, below = 0;
  for (const double logit : logits) {
    sum += std::exp(logit - max);
    below += max - logit;
  }
  Row made{std::log(sum) + (1 - s) * (max - of_target) + s * (below / p.classes), {}};
  for (size_t v = 0; v < logits.size(); ++v) {
    const double target = (static_cast<int32_t>(v) == y ? 1 - s : 0) + s / p.classes;
    made.dlogits.push_back(dloss * (std::exp(logits[v] - max) / sum - target));
  }
  return made;
}

template <class T>
std::vector<double> dx_of_row(const LinearCrossEntropy<T>& p, const Row& row) {
  std::vector<double> dx(static_cast<size_t>(p.width));
  for (int64_t v = 0; v < p.classes; ++v)
    for (int64_t i = 0; i < p.width; ++i)
      dx[static_cast<size_t>(i)] +=
          row.dlogits[static_cast<size_t>(v)] * days::to_double(p.w[v * p.width + i]);
  return dx;
}

}  // namespace

template <class T>
void linear_reference(const LinearCrossEntropy<T>& p) {
  std::vector<double> dw(static_cast<size_t>(p.vocab) * static_cast<size_t>(p.width));
  for (int64_t row = 0; row < p.rows; ++row) {
    const Row made = row_of(p, row);
    p.loss[row] = static_cast<float>(made.loss);
    const std::vector<double> dx = dx_of_row(p, made);
    for (int64_t i = 0; i < p.width; ++i)
      p.dx[row * p.width + i] = days::from_double<T>(dx[static_cast<size_t>(i)]);
    for (int64_t v = 0; v < p.classes; ++v)
      for (int64_t i = 0; i < p.width; ++i)
        dw[static_cast<size_t>(v * p.width + i)] +=
            made.dlogits[static_cast<size_t>(v)] * days::to_double(p.x[row * p.width + i]);
  }
  std::transform(dw.begin(), dw.end(), p.dw, [](double sum) { return static_cast<float>(sum); });
}

// Roundings behave like random signs: of n terms the errors add up to sqrt(n) of them, and six times that is allowed.
template <class T>
Bounds linear_bounds(const LinearCrossEntropy<T>& p, double rms_x, double rms_w) {
  using Fp32 = days::TypeInfo<float>;
  constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
  constexpr double kAllowed = 6;
  const double rounding = kRounded ? days::TypeInfo<T>::kEpsilon / 2 : 0;
  const double denormal = kRounded ? days::TypeInfo<T>::kDenormMin : 0;
  const double classes = p.classes, rows = p.rows;
  const double size = std::sqrt(p.width) * rms_x * rms_w;  // of a logit, and what that may be off by:
  const double logit = 3 * size * rounding + 2 * Fp32::kEpsilon * p.width * rms_x * rms_w;
  const double sum = Fp32::kEpsilon * (4 + 12 * size + 2 * std::sqrt(classes));  // relative
  double dloss = 0;
  std::vector<double> times(static_cast<size_t>(p.classes));
  for (int64_t row = 0; row < p.rows; ++row) {
    const int32_t y = p.targets[row];
    if (kind_of(y, p.classes, p.ignore_index) != Target::kClass) continue;
    dloss = std::max(dloss, std::abs(static_cast<double>(p.dloss[row])));
    ++times[static_cast<size_t>(y)];
  }
  // A number of dlogits is about 1 at its row's target, and elsewhere a probability: the root of their mean square.
  const double target = rounding + 2 * Fp32::kEpsilon * std::sqrt(std::max(rows, classes));
  const double share = std::min(1.0, 2 * std::exp(std::min(100.0, size * size) / 2) / classes);
  const double other = 2 * logit + sum + target;
  const double most = *std::max_element(times.begin(), times.end());
  const double of_dx = target + std::min(1.0, std::sqrt(classes) * share) * other;
  const double of_dw = std::sqrt(most) * target + std::sqrt(rows) * share * other;
  Bounds bounds;
  bounds.loss = {2 * logit + sum, 8 * Fp32::kEpsilon};
  bounds.dx = {kAllowed * rms_w * (dloss * of_dx + denormal * std::sqrt(classes)) + denormal,
               kRounded ? days::TypeInfo<T>::kEpsilon : 4 * Fp32::kEpsilon};
  bounds.dw = {kAllowed * rms_x * (dloss * of_dw + denormal * std::sqrt(rows)), 4 * Fp32::kEpsilon};
  return bounds;
}

// Some rows' loss and dx in full; of some words dw, of which all rows' losses are part: log(sum) of a row is its loss and what the loss takes
// from it.
template <class T>
days::Report linear_check_large(const LinearCrossEntropy<T>& p) {
  constexpr int kSampled = 8;
  const auto rms = [](const T* values, int64_t count) {
    double squares = 0;
    for (int64_t i = 0; i < count; i += 97) squares += std::pow(days::to_double(values[i]), 2);
    return std::sqrt(squares / static_cast<double>(days::ceil_div(count, int64_t{97})));
  };
  const Bounds bounds =
      linear_bounds(p, rms(p.x, int64_t{p.rows} * p.width), rms(p.w, int64_t{p.vocab} * p.width));
  const auto wrong = [](double got, double want, const days::Bound& bound) {
    return !(days::error_of(got, want) <= bound.absolute + bound.relative * std::abs(want));
  };
  const auto told = [](const char* what, int64_t row, double got, double want) {
    return days::Report::failed(std::string(what) + "[" + std::to_string(row) + "] is " +
                                days::Report::number(got) + ", expected " + days::Report::number(want));
  };
  const auto at = [](int i, int64_t count) {
    return std::min(count - 1, days::uniform_integer(74, static_cast<uint64_t>(i), int64_t{0}, count));
  };
  std::vector<int64_t> rows{0, p.rows - 1};
  for (int i = 2; i < kSampled; ++i) rows.push_back(at(i, p.rows));
  for (const int64_t row : rows) {
    const Row made = row_of(p, row);
    if (wrong(static_cast<double>(p.loss[row]), made.loss, bounds.loss))
      return told("loss", row, static_cast<double>(p.loss[row]), made.loss);
    const std::vector<double> dx = dx_of_row(p, made);
    for (int64_t i = 0; i < p.width; ++i) {
      const double got = days::to_double(p.dx[row * p.width + i]);
      if (wrong(got, dx[static_cast<size_t>(i)], bounds.dx))
        return told("dx", row * p.width + i, got, dx[static_cast<size_t>(i)]);
    }
  }
  std::vector<double> mean(static_cast<size_t>(p.width));  // of w
  if (p.smoothing != 0)
    for (int64_t v = 0; v < p.classes; ++v)
      for (int64_t i = 0; i < p.width; ++i)
        mean[static_cast<size_t>(i)] += days::to_double(p.w[v * p.width + i]) / p.classes;
  const double s = static_cast<double>(p.smoothing);
  // The words of the first sampled rows' targets are among them: for most words all of dw is next to nothing.
  std::vector<int64_t> words{0, p.classes - 1, p.vocab - 1};
  for (const int64_t row : rows)
    if (kind_of(p.targets[row], p.classes, p.ignore_index) == Target::kClass) words.push_back(p.targets[row]);
  std::vector<double> lse(static_cast<size_t>(p.rows));
  for (int64_t row = 0; row < p.rows; ++row) {
    const int32_t y = p.targets[row];
    if (kind_of(y, p.classes, p.ignore_index) != Target::kClass) continue;
    const T* const x = p.x + row * p.width;
    double taken = (1 - s) * dot(x, p.w + int64_t{y} * p.width, p.width);
    for (int64_t i = 0; i < p.width && s != 0; ++i)
      taken += s * mean[static_cast<size_t>(i)] * days::to_double(x[i]);
    lse[static_cast<size_t>(row)] = static_cast<double>(p.loss[row]) + taken;
  }
  for (const int64_t v : words) {
    std::vector<double> dw(static_cast<size_t>(p.width));
    for (int64_t row = 0; row < p.rows && v < p.classes; ++row) {
      const int32_t y = p.targets[row];
      const Target kind = kind_of(y, p.classes, p.ignore_index);
      if (kind == Target::kIgnored) continue;
      const T* const x = p.x + row * p.width;
      const double share = std::exp(dot(x, p.w + v * p.width, p.width) - lse[static_cast<size_t>(row)]);
      const double dlogit = kind == Target::kNoClass ? std::nan("")
                                                     : static_cast<double>(p.dloss[row]) *
                                                           (share - (v == y ? 1 - s : 0) - s / p.classes);
      for (int64_t i = 0; i < p.width; ++i) dw[static_cast<size_t>(i)] += dlogit * days::to_double(x[i]);
    }
    for (int64_t i = 0; i < p.width; ++i) {
      const double got = static_cast<double>(p.dw[v * p.width + i]);
      if (wrong(got, dw[static_cast<size_t>(i)], bounds.dw))
        return told("dw", v * p.width + i, got, dw[static_cast<size_t>(i)]);
    }
  }
  return {};
}

INSTANTIATE_REFERENCE(linear_reference, LinearCrossEntropy, float, days::half, days::bf16);
template Bounds linear_bounds(const LinearCrossEntropy<float>&, double, double);
template Bounds linear_bounds(const LinearCrossEntropy<days::half>&, double, double);
template Bounds linear_bounds(const LinearCrossEntropy<days::bf16>&, double, double);
template days::Report linear_check_large(const LinearCrossEntropy<float>&);
template days::Report linear_check_large(const LinearCrossEntropy<days::half>&);
template days::Report linear_check_large(const LinearCrossEntropy<days::bf16>&);

}  // namespace day74
