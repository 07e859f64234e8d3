// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>

#include "common/parallel.h"
#include "day15_gelu_backward/formulas.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

float below_in_fp32(float x) {
  return 0.5f * (1 + std::erf(kHalfRoot * x));
}
float slope_in_fp32(float x) {
  return below_in_fp32(x) + x * kDensity * std::exp(-0.5f * x * x);
}

}  // namespace

template <class T>
void gelu_backward_reference(const GeluBackward<T>& p) {
  for (int64_t i = 0; i < p.n; ++i)
    p.dx[i] = days::from_double<T>(days::to_double(p.dy[i]) * slope(days::to_double(p.x[i])));
}

template <class T>
void gelu_backward_parallel(const GeluBackward<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      p.dx[i] = days::from_float<T>(days::to_float(p.dy[i]) * slope_in_fp32(days::to_float(p.x[i])));
  });
}

template <class T>
void gelu_step_reference(const GeluStep<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = days::from_double<T>(gelu(days::to_double(p.x[i])));
  gelu_backward_reference(GeluBackward<T>{p.x, p.dy, p.dx, p.n});
}

template <class T>
void gelu_step_parallel(const GeluStep<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float x = days::to_float(p.x[i]);
      p.y[i] = days::from_float<T>(x * below_in_fp32(x));
    }
  });
  gelu_backward_parallel(GeluBackward<T>{p.x, p.dy, p.dx, p.n});
}

INSTANTIATE_REFERENCE(gelu_backward_reference, GeluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_backward_parallel, GeluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_step_reference, GeluStep, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_step_parallel, GeluStep, float, days::half, days::bf16);

}  // namespace day15
