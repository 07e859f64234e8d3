// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>

#include "common/parallel.h"
#include "day09_sigmoid/formulas.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

// to[i] = f(i) for all i, by all cores.
template <class T, class F>
void on_all_cores(T* to, int64_t n, F f) {
  days::parallel_ranges(static_cast<size_t>(n), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = days::from_float<T>(f(i));
  });
}

}  // namespace

template <class T>
void sigmoid_reference(const Sigmoid<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = days::from_double<T>(exact_sigmoid(days::to_double(p.x[i])));
}

template <class T>
void sigmoid_parallel(const Sigmoid<T>& p) {
  on_all_cores(p.y, p.n, [&](size_t i) { return 1 / (1 + std::exp(-days::to_float(p.x[i]))); });
}

template <class T>
void sigmoid_backward_reference(const SigmoidBackward<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    p.dx[i] = days::from_double<T>(days::to_double(p.dy[i]) * exact_derivative(days::to_double(p.x[i])));
  }
}

template <class T>
void sigmoid_backward_parallel(const SigmoidBackward<T>& p) {
  on_all_cores(p.dx, p.n, [&](size_t i) {
    const float power = std::exp(-std::abs(days::to_float(p.x[i]))), inverse = 1 / (1 + power);
    return days::to_float(p.dy[i]) * (power * inverse * inverse);
  });
}

template <class T>
void sigmoid_backward_y_reference(const SigmoidBackwardY<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    const double y = days::to_double(p.y[i]);
    p.dx[i] = days::from_double<T>(days::to_double(p.dy[i]) * (y * (1 - y)));
  }
}

template <class T>
void sigmoid_backward_y_parallel(const SigmoidBackwardY<T>& p) {
  on_all_cores(p.dx, p.n, [&](size_t i) {
    const float y = days::to_float(p.y[i]);
    return days::to_float(p.dy[i]) * (y * (1 - y));
  });
}

INSTANTIATE_REFERENCE(sigmoid_reference, Sigmoid, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(sigmoid_parallel, Sigmoid, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(sigmoid_backward_reference, SigmoidBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(sigmoid_backward_parallel, SigmoidBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(sigmoid_backward_y_reference, SigmoidBackwardY, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(sigmoid_backward_y_parallel, SigmoidBackwardY, float, days::half, days::bf16);

}  // namespace day09
