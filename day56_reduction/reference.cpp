// SPDX-License-Identifier: MIT
// The CPU's versions: one loop, and what a CPU does with all its cores. In double each of n additions is off by at most 2^-53 of
// what has been added up: for 2^31 numbers of N(0, 1) far less than half a float's last digit.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

// The sum over [0, n) of f(i), by all cores: a partial sum for each.
template <class To, class F>
To sum_by_all(int64_t n, F f) {
  std::vector<To> partial(days::cpu_threads());
  days::parallel_ranges(static_cast<size_t>(n), [&](size_t part, size_t begin, size_t end) {
    To sum = 0;
    for (size_t i = begin; i < end; ++i) sum += f(i);
    partial[part] = sum;
  });
  To sum = 0;
  for (const To one : partial) sum += one;
  return sum;
}

template <class T>
Wide<T> wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return days::to_double(x);
  }
}

// Whether an element takes the place of the largest before it.
bool takes_over(double x, double largest) {
  return x > largest || (std::isnan(x) && !std::isnan(largest));
}
template <class T>
int64_t first_largest(const T* x, int64_t begin, int64_t end) {
  int64_t largest = begin;
  for (int64_t i = begin + 1; i < end; ++i)
    if (takes_over(days::to_double(x[i]), days::to_double(x[largest]))) largest = i;
  return largest;
}

}  // namespace

template <class T>
void sum_reference(const Sum<T>& p) {
  Wide<T> sum = 0;
  for (int64_t i = 0; i < p.n; ++i) sum += wide(p.x[i]);
  *p.sum = static_cast<Total<T>>(sum);
}

template <class T>
void sum_parallel(const Sum<T>& p) {
  *p.sum = static_cast<Total<T>>(sum_by_all<Wide<T>>(p.n, [&](size_t i) { return wide(p.x[i]); }));
}

template <class T>
double sum_of_sizes(const Sum<T>& p) {
  return sum_by_all<double>(p.n, [&](size_t i) {
    const double size = std::abs(days::to_double(p.x[i]));
    return std::isfinite(size) ? size : 0;
  });
}

template <class T>
void argmax_reference(const Argmax<T>& p) {
  *p.index = first_largest(p.x, 0, p.n);
  *p.value = p.x[*p.index];
}

template <class T>
void argmax_parallel(const Argmax<T>& p) {
  std::vector<int64_t> of_part(days::cpu_threads(), -1);
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
    of_part[part] = first_largest(p.x, static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
  int64_t largest = of_part[0];
  for (const int64_t i : of_part)
    if (i >= 0 && takes_over(days::to_double(p.x[i]), days::to_double(p.x[largest]))) largest = i;
  *p.index = largest;
  *p.value = p.x[largest];
}

INSTANTIATE_REFERENCE(sum_reference, Sum, float, days::half, days::bf16, int32_t);
INSTANTIATE_REFERENCE(sum_parallel, Sum, float, days::half, days::bf16, int32_t);
INSTANTIATE_REFERENCE(argmax_reference, Argmax, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(argmax_parallel, Argmax, float, days::half, days::bf16);
template double sum_of_sizes(const Sum<float>&);
template double sum_of_sizes(const Sum<days::half>&);
template double sum_of_sizes(const Sum<days::bf16>&);
template double sum_of_sizes(const Sum<int32_t>&);

}  // namespace day56
