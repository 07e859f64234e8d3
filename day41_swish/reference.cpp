// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>
#include <vector>

#include "common/parallel.h"
#include "day41_swish/formulas.h"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

// The sum over all elements of f(i), by all cores: a partial sum for each.
template <class F>
double sum_of(int64_t n, F f) {
  std::vector<double> partial(days::cpu_threads());
  days::parallel_ranges(static_cast<size_t>(n), [&](size_t part, size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += f(i);
    partial[part] = sum;
  });
  double sum = 0;
  for (const double one : partial) sum += one;
  return sum;
}

}  // namespace

template <class T>
void swish_reference(const Swish<T>& p) {
  const double beta = static_cast<double>(*p.beta);
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = days::from_double<T>(Exact(days::to_double(p.x[i]), beta).y);
}

template <class T>
void swish_parallel(const Swish<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float x = days::to_float(p.x[i]);
      p.y[i] = days::from_float<T>(x * (1 / (1 + std::exp(-*p.beta * x))));
    }
  });
}

template <class T>
void swish_backward_reference(const SwishBackward<T>& p) {
  const double beta = static_cast<double>(*p.beta);
  double sum = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    const Exact exact(days::to_double(p.x[i]), beta);
    const double dy = days::to_double(p.dy[i]);  // before dx, which may lie in its place
    p.dx[i] = days::from_double<T>(dy * exact.by_x);
    sum += dy * exact.by_beta;
  }
  *p.dbeta = static_cast<float>(sum);
}

template <class T>
void swish_backward_parallel(const SwishBackward<T>& p) {
  const float beta = *p.beta;
  *p.dbeta = static_cast<float>(sum_of(p.n, [&](size_t i) {
    const float x = days::to_float(p.x[i]), dy = days::to_float(p.dy[i]), u = beta * x;
    const float power = std::exp(-std::abs(u)), inverse = 1 / (1 + power), other = power * inverse;
    const float s = u < 0 ? other : inverse, mirrored = u < 0 ? inverse : other;
    p.dx[i] = days::from_float<T>(dy * (std::isinf(u) ? s : s * (1 + u * mirrored)));
    return static_cast<double>(dy * ((x * (s * mirrored)) * x));
  }));
}

template <class T>
double sum_of_sizes(const SwishBackward<T>& p) {
  const double beta = static_cast<double>(*p.beta);
  return sum_of(p.n, [&](size_t i) {
    const double size = std::abs(days::to_double(p.dy[i]) * Exact(days::to_double(p.x[i]), beta).by_beta);
    return std::isfinite(size) ? size : 0;
  });
}

INSTANTIATE_REFERENCE(swish_reference, Swish, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swish_parallel, Swish, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swish_backward_reference, SwishBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swish_backward_parallel, SwishBackward, float, days::half, days::bf16);
template double sum_of_sizes(const SwishBackward<float>&);
template double sum_of_sizes(const SwishBackward<days::half>&);
template double sum_of_sizes(const SwishBackward<days::bf16>&);

}  // namespace day41
